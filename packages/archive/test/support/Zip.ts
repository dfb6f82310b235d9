/** Writes ZIP files for tests. */
import { writeFileSync } from "node:fs"
import { crc32, deflateRawSync } from "node:zlib"

/** Writes a ZIP file of contents by name. */
export const writeZip = (path: string, files: Readonly<Record<string, string | Buffer>>): void => {
  const locals: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let at = 0
  for (const [file, content] of Object.entries(files)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const name = Buffer.from(file)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x800, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, name, packed])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), common, place, name]))
    locals.push(local)
    at += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06")
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  writeFileSync(path, Buffer.concat([...locals, listed, end]))
}

/** A file of an archive of the service. */
export const part = (name: string, elements: ReadonlyArray<object>, number = 0): string =>
  `window.YTD.${name}.part${number} = ${JSON.stringify(elements, undefined, 2)}`
