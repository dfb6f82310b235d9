/** Translates rules for programs to the command line, where all values are text. */

const words: ReadonlyArray<readonly [ofPrograms: RegExp, ofShells: string]> = [
  [/\ba Date, a DateTime or an RFC 3339 string\b/g, "a time"],
  [/, as a string, a bigint or a safe integer\b/g, ""],
  [/, (as a list or )?(as )?one string with commas and no spaces\b/g, ", separated by commas"],
  [/\ba list of names, or one string of names separated by commas with no spaces\b/g, "names, separated by commas"],
  [/\ba list of (?:one or more )?(\w+ of 1 to \d+ \w+)/g, "$1, separated by commas"],
  [/\ba list of strings\b/g, "texts, separated by commas"],
  [/\ba list of objects of JSON\b/g, "an array of objects"],
  [/\buser_auth: true\b/g, "--user-auth"],
  [/\buser_auth: false\b/g, "--no-user-auth"],
  [/ \(allowInsecureHttp lifts this\)/g, ""],
  [/\{ unlisted: "name" \}/g, "unlisted:name"],
  [/\ba string representing a finite number\b/g, "a number"],
  [/\ba valid Date\b/g, "a time such as 2026-01-31T12:00:00Z"]
]

/** A rule in terms of the command line. */
export const forShells = (text: string): string =>
  words.reduce((text, [ofPrograms, ofShells]) => text.replaceAll(ofPrograms, ofShells), text)
