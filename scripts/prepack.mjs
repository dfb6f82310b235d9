// What a package is packed or published with by hand. Only pnpm puts the published entries and the versions of the
// workspace into the manifest, and only the release checks what it publishes.
import { existsSync } from "node:fs"

const refuse = (sentence) => {
  console.error(`\n${sentence}\n`)
  process.exit(1)
}

const { npm_config_user_agent: packer = "", npm_package_name: name } = process.env

if (process.argv[2] === "publish") {
  refuse(
    `${name} is not published by hand. \`npm run release:dry\` at the root packs, checks and shows what a release publishes.`
  )
}
if (!packer.startsWith("pnpm/")) {
  refuse(
    `${name} is packed by pnpm alone: \`npm run build\` at the root, then \`pnpm pack\` here. Other package managers would publish the manifest of the workspace.`
  )
}
if (!existsSync("dist")) refuse(`${name} is not built yet: \`npm run build\` at the root.`)
