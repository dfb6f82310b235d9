import * as SpendStore from "../src/SpendStore.ts"
import { suite } from "./support/SpendStores.ts"

suite("in memory", SpendStore.layerMemory)
