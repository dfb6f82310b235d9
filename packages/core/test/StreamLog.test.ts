import * as StreamLog from "../src/streams/shared/StreamLog.ts"
import { suite } from "./support/StreamLogs.ts"

suite("in memory", StreamLog.layerMemory)
