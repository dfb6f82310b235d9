/** The stores that processes can share an account through. */
import * as Database from "@postwire/cluster/Database"
import * as PostgresTokenStore from "@postwire/cluster/PostgresTokenStore"
import type { TokenStore } from "@postwire/core/storage/TokenStore"
import * as FileTokenStore from "@postwire/node/FileTokenStore"
import * as RedisTokenStore from "@postwire/node/RedisTokenStore"
import { Layer, Redacted } from "effect"

export const names = ["file", "redis", "postgres"] as const

export type StoreName = typeof names[number]

/** Each by its folder or address. */
export const stores: Readonly<Record<StoreName, (place: string) => Layer.Layer<TokenStore, unknown>>> = {
  file: (place) => FileTokenStore.layer({ folder: place }),
  redis: (place) => RedisTokenStore.layerUrl({ url: place }),
  postgres: (place) => Layer.provide(PostgresTokenStore.layer, Database.layerPostgres({ url: Redacted.make(place) }))
}
