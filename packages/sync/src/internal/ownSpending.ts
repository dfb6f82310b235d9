/** The spending of a client in its worker, kept so that the next worker can continue if this one is lost. */
import type { Total } from "@postwire/core/spend/SpendSettings"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Storage from "@postwire/core/storage/Storage"
import { threadId } from "node:worker_threads"
import type { BillChange, Spending } from "./protocol.ts"

/** The amounts of the limit `total`, in memory that the caller shares. */
export const totalOf = ({ total }: Spending): typeof Total.Service => {
  const amount = (index: number) => ({ get: () => total[index], set: (micros: number) => total[index] = micros })
  return Object.defineProperties({ spent: 0, inDoubt: 0, reserved: 0 }, {
    spent: amount(0),
    inDoubt: amount(1),
    reserved: amount(2)
  })
}

/** A store of a bill in memory, which reports a change before the request is sent. Reservations of earlier workers are in doubt. */
export const storeOf = ({ bill }: Spending, report: (texts: BillChange["texts"]) => void): SpendStore.Store => {
  const storage = Storage.makeMemory(bill)
  const own = `${threadId}:`
  return SpendStore.fromStorage({
    ...storage,
    modify: (target, f) =>
      storage.modify(target, (before) => {
        const step = f(before)
        const changed = step.texts?.map((text = "", index) => [target.texts[index]!, text] as const)
        if (changed !== undefined) report(new Map(changed))
        return step
      })
  }, { leaseOf: (lease) => own + lease, isGone: (lease) => !lease.startsWith(own) })
}
