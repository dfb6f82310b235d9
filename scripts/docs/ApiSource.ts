/** The declarations of modules of a package, with the modules of the names that they refer to. */
import ts from "@typescript/typescript6"
import { createHash } from "node:crypto"
import { posix } from "node:path"

/** A module of a package. */
export interface Module {
  /** Its path in the workspace, such as `@postwire/core/client/Client`. */
  readonly path: string
  /** The name by which programs import it, and its stability; absent where none can. */
  readonly heading?: string | undefined
  readonly declarations: string
}

/** A name of a module, or all of them. */
export interface Reference {
  readonly path: string
  readonly name: string | undefined
}

/** A module whose declarations are parsed. */
export interface Source {
  readonly heading: string | undefined
  readonly file: ts.SourceFile
  readonly imports: ReadonlyMap<string, Reference>
  /** The bases of classes, which the compiler declares as constants. */
  readonly bases: ReadonlyMap<string, ts.TypeNode>
  /** Without imports and bases. */
  readonly statements: ReadonlyArray<ts.Statement>
}

/** Declarations of a module. */
export interface Part {
  readonly source: Source
  /** The names that the module passes on. */
  readonly exports: ReadonlyArray<string>
  readonly declarations: ReadonlyArray<ts.Node>
  readonly references: ReadonlyArray<Reference>
}

/** Modules that follow from the catalogue and add no type to what they are part of. */
export const derived: ReadonlyArray<string> = ["@postwire/core/schema/Documentation"]

/** The characters of a type above which it is its members' names and a digest: at the top of a declaration, and below. */
const shown = { top: 800, below: 200 }

const { factory } = ts
const printer = ts.createPrinter({ removeComments: true })

/** A few characters that change with a text. */
export const digest = (text: string): string => `#${createHash("sha256").update(text).digest("hex").slice(0, 8)}`

/** A declaration or type on one line, without comments. */
export const print = (node: ts.Node, { file }: Source): string =>
  printer.printNode(ts.EmitHint.Unspecified, node, file)
    .replaceAll(/\s+/g, " ").replaceAll("; }", " }").replace(/;$/, "").replace(/^(export )?declare /, "$1")

/** The path of the module that a specifier stands for. */
const resolve = (specifier: ts.Node, importer: ts.SourceFile): string => {
  if (!ts.isStringLiteral(specifier)) throw new Error(`${importer.fileName} imports what is not a string`)
  const { text } = specifier
  return text.startsWith(".") ? posix.join(posix.dirname(importer.fileName), text).replace(/\.[jt]s$/, "") : text
}

const pathOf = (node: ts.ImportTypeNode, file: ts.SourceFile): string =>
  resolve(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument, file)

const importsOf = (file: ts.SourceFile): ReadonlyMap<string, Reference> => {
  const imports = new Map<string, Reference>()
  for (const { importClause, moduleSpecifier } of file.statements.filter(ts.isImportDeclaration)) {
    const path = resolve(moduleSpecifier, file)
    if (importClause?.name !== undefined) imports.set(importClause.name.text, { path, name: "default" })
    const bindings = importClause?.namedBindings
    if (bindings === undefined) continue
    if (ts.isNamespaceImport(bindings)) imports.set(bindings.name.text, { path, name: undefined })
    else {
      for (const { name, propertyName = name } of bindings.elements) {
        imports.set(name.text, { path, name: propertyName.text })
      }
    }
  }
  return imports
}

/** Parses the declarations of a module. */
export const read = ({ declarations, heading, path }: Module): Source => {
  const file = ts.createSourceFile(path, declarations, ts.ScriptTarget.Latest, true)
  const bases = new Map<string, ts.TypeNode>()
  const statements = file.statements.filter((statement) => {
    const [constant] = ts.isVariableStatement(statement) ? statement.declarationList.declarations : []
    const name = constant?.name.getText() ?? ""
    if (constant?.type === undefined || !name.endsWith("_base")) return !ts.isImportDeclaration(statement)
    bases.set(name, constant.type)
    return false
  })
  return { heading, file, imports: importsOf(file), bases, statements }
}

/** The shortest ends by which the paths of modules and of their imports differ. */
export const labelsOf = (sources: Iterable<Source>): ReadonlyMap<string, string> => {
  const paths = new Set<string>()
  for (const { file, imports } of sources) {
    paths.add(file.fileName)
    for (const { path } of imports.values()) paths.add(path)
    const visit = (node: ts.Node): void => {
      if (ts.isImportTypeNode(node)) paths.add(pathOf(node, file))
      ts.forEachChild(node, visit)
    }
    visit(file)
  }
  const endsOf = (path: string) => path.split("/").map((_, index, parts) => parts.slice(-index - 1).join("/"))
  const ends = Map.groupBy(Array.from(paths, endsOf).flat(), (end) => end)
  return new Map(Array.from(paths, (path) => [path, endsOf(path).find((end) => ends.get(end)!.length === 1) ?? path]))
}

const isReference = (node: ts.Identifier): boolean => {
  const { parent } = node
  if (ts.isQualifiedName(parent)) return parent.left === node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  return ts.isTypeReferenceNode(parent) || ts.isTypeQueryNode(parent) || ts.isExpressionWithTypeArguments(parent) ||
    ts.isComputedPropertyName(parent)
}

/** The name after an identifier and a dot. */
const memberOf = ({ parent }: ts.Node): string | undefined =>
  ts.isQualifiedName(parent) ? parent.right.text : ts.isPropertyAccessExpression(parent) ? parent.name.text : undefined

const isReadonly = ({ kind }: ts.ModifierLike): boolean => kind === ts.SyntaxKind.ReadonlyKeyword

/** A member, marked where it is not readonly. */
const member = (node: ts.PropertySignature, type: ts.TypeNode | undefined): ts.PropertySignature => {
  const marks = [
    ...ts.getJSDocDeprecatedTag(node) ? ["@deprecated"] : [],
    ...node.modifiers?.some(isReadonly) ? [] : ["mutable"]
  ]
  return factory.createPropertySignature(undefined, [...marks, node.name.getText()].join(" "), node.questionToken, type)
}

const nameOfMember = ({ name, questionToken }: ts.TypeElement): string =>
  `${name !== undefined && ts.isIdentifier(name) ? name.text.split(" ").at(-1) : "()"}${
    questionToken === undefined ? "" : "?"
  }`

/** A type without what is too long to be read. */
export const abridge = (root: ts.Node, source: Source, shared: ReadonlySet<string> = new Set()): ts.Node => {
  const visit = (limit: number) => (node: ts.Node): ts.Node => {
    const text = ts.isUnionTypeNode(node) || ts.isTypeLiteralNode(node) ? print(node, source) : ""
    if (shared.has(text)) return factory.createTypeReferenceNode(digest(text))
    if (!ts.isTypeLiteralNode(node)) return ts.visitEachChild(node, visit(limit), undefined)
    if (text.length > limit) {
      return factory.createTypeReferenceNode(`{ ${[...node.members.map(nameOfMember), digest(text)].join(", ")} }`)
    }
    return ts.setEmitFlags(ts.visitEachChild(node, visit(shown.below), undefined), ts.EmitFlags.SingleLine)
  }
  return visit(shown.top)(root)
}

/** The type of the bases of Effect's errors. */
const taggedError =
  /^new <A extends Record<string, any> = \{\}>\(args: \S+\.VoidIfEmpty<.+>\) => \S+\.YieldableError & \{ _tag: ("\w+") \} & Readonly<A>$/

const isDerived = (node: ts.TypeNode, file: ts.SourceFile): boolean =>
  ts.isImportTypeNode(node) && derived.includes(pathOf(node, file))

type Refer = (reference: Reference, member?: string) => string

/** Gives every name in a declaration its module. */
const qualify = (source: Source, refer: Refer) => {
  const { bases, file, imports } = source
  const visit = (node: ts.Node): ts.Node => {
    if (ts.isImportTypeNode(node)) {
      const [first, ...more] = node.qualifier?.getText().split(".") ?? []
      const name = factory.createIdentifier([refer({ path: pathOf(node, file), name: first }), ...more].join("."))
      const types = node.typeArguments?.map((type) => ts.visitNode(type, visit, ts.isTypeNode))
      return node.isTypeOf ? factory.createTypeQueryNode(name, types) : factory.createTypeReferenceNode(name, types)
    }
    if (ts.isIdentifier(node) && isReference(node)) {
      const base = bases.get(node.text)
      const reference = imports.get(node.text) ?? { path: file.fileName, name: node.text }
      if (base === undefined) return factory.createIdentifier(refer(reference, memberOf(node)))
      const type = print(abridge(visit(base), source), source)
      return factory.createIdentifier(type.replace(taggedError, "TaggedError<$1>"))
    }
    if (ts.isIntersectionTypeNode(node)) {
      const types = node.types.filter((type) => !isDerived(type, file))
      if (types.length === 1) return visit(types[0]!)
    }
    const visited = ts.visitEachChild(node, visit, undefined)
    if (ts.isPropertySignature(visited)) return member(node as ts.PropertySignature, visited.type)
    const isOnOneLine = ts.isTypeLiteralNode(node) || ts.isMappedTypeNode(node) || ts.isTupleTypeNode(node)
    return isOnOneLine ? ts.setEmitFlags(visited, ts.EmitFlags.SingleLine) : visited
  }
  return visit
}

/** The names that a statement passes on from other modules. */
const passedOn =
  ({ file, imports }: Source, refer: Refer) =>
  ({ exportClause, moduleSpecifier }: ts.ExportDeclaration): ReadonlyArray<string> => {
    const path = moduleSpecifier === undefined ? file.fileName : resolve(moduleSpecifier, file)
    if (exportClause === undefined) return [`${refer({ path, name: undefined })}.*`]
    if (ts.isNamespaceExport(exportClause)) {
      const label = refer({ path, name: undefined })
      return [label === exportClause.name.text ? `* as ${label}` : `${label} as ${exportClause.name.text}`]
    }
    return exportClause.elements.map(({ name, propertyName = name }) => {
      const imported = moduleSpecifier === undefined ? imports.get(propertyName.text) : undefined
      const label = refer(imported ?? { path, name: propertyName.text })
      return label.split(".").at(-1) === name.text ? label : `${label} as ${name.text}`
    })
  }

/** Makes parts of modules; labels are what references call modules. */
export const parts =
  (labels: ReadonlyMap<string, string>) => (source: Source, statements: ReadonlyArray<ts.Statement>): Part => {
    const references: Array<Reference> = []
    const refer: Refer = ({ name, path }, ofNamespace) => {
      references.push({ path, name: name ?? ofNamespace })
      return [path === source.file.fileName ? [] : labels.get(path) ?? path, name ?? []].flat().join(".")
    }
    return {
      source,
      exports: statements.filter(ts.isExportDeclaration).flatMap(passedOn(source, refer)),
      declarations: statements.filter((statement) => !ts.isExportDeclaration(statement)).map(qualify(source, refer)),
      references
    }
  }

/** The names that a statement declares. */
export const namesOf = (statement: ts.Statement): ReadonlyArray<string> => {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText())
  const isNamed = ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) || ts.isFunctionDeclaration(statement) || ts.isEnumDeclaration(statement)
  return isNamed && statement.name !== undefined ? [statement.name.text] : []
}
