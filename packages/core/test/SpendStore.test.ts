import { Layer } from "effect"
import { TestClock } from "effect/testing"
import * as SpendStore from "../src/spend/SpendStore.ts"
import { Aging, agingMillis, suite } from "./support/SpendStores.ts"

suite(
  "in memory",
  Layer.merge(SpendStore.layerMemory, Layer.succeed(Aging, TestClock.adjust(agingMillis)))
)
