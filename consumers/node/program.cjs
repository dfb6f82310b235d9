// The packages are modules: `require` takes them as they are.
const postwire = require("@postwire/node")
const { Sandbox } = require("@postwire/sandbox")
const { scenario } = require("./scenario.mjs")

const main = async () => {
  const sandbox = await Sandbox.start({ posts: 400 })
  sandbox.faults.add({ operation: "getMe", status: 429, headers: { "retry-after": "1" } })
  console.log(JSON.stringify(await scenario(postwire, sandbox.settings)))
  await sandbox.stop()
}
main()
