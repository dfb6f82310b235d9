import * as StreamLog from "../src/StreamLog.ts"
import { suite } from "./support/StreamLogs.ts"

suite("in memory", StreamLog.layerMemory)
