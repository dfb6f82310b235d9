/** Names and texts of seeded accounts. */

/** Text templates of a language. `{t}` is the topic. */
export interface Language {
  readonly code: string
  /** The share of accounts that use it. */
  readonly share: number
  /** The separator between statements. */
  readonly stop: string
  readonly openers: ReadonlyArray<string>
  readonly statements: ReadonlyArray<string>
  readonly closers: ReadonlyArray<string>
  readonly replies: ReadonlyArray<string>
  readonly subjects: ReadonlyArray<string>
}

/** The texts of a list. */
const split = (texts: string): ReadonlyArray<string> => texts.split(" | ")

export const languages: ReadonlyArray<Language> = [
  {
    code: "en",
    share: 0.56,
    stop: ".",
    openers: split(
      "Quick note: | Hot take: | After a long weekend, | Finally! | Small win today: | Honest question: | " +
        "Reading notes: | PSA: | Day 12: | Unpopular opinion:"
    ),
    statements: split(
      "I keep coming back to {t} | we moved the whole team to {t} and nobody wants to go back | " +
        "my talk about {t} got accepted | {t} is easier to explain than I thought | " +
        "three things I wish I had known about {t} | nobody told me that {t} could be this calm | " +
        "the best part of {t} is what you don't have to write | wrote down everything I learned about {t} | " +
        "there is a hidden cost to {t}, and it's worth paying | is anyone else spending their evenings with {t}? | " +
        "spent the morning debugging, spent the afternoon reading about {t} | " +
        "my grandmother asked me what {t} is and I had a good answer"
    ),
    closers: split(
      "Thoughts? | More tomorrow. | Slides are up. | Worth every minute. | Ask me anything. | " +
        "I'll post the numbers later. | That's it, that's the post. | Would do it again."
    ),
    replies: split("Totally agree, | Not so sure. | Same here: | This! | Thank you, | Late to this, but"),
    subjects: split(
      "sourdough baking | trail running | the night train to Vienna | growing tomatoes | film cameras | " +
        "the derby | chess openings | home espresso | the city council | jazz records"
    )
  },
  {
    code: "es",
    share: 0.13,
    stop: ".",
    openers: split("Nota rápida: | ¡Por fin! | Pregunta sincera: | Opinión impopular: | Hoy aprendí:"),
    statements: split(
      "sigo pensando en {t} | cada día me gusta más {t} | nadie me había explicado tan bien {t} | " +
        "escribí una guía corta sobre {t} | lo mejor de {t} es lo que no tienes que escribir | " +
        "¿alguien más pasa las noches con {t}?"
    ),
    closers: ["¿Qué opinan?", "Mañana más.", "Vale la pena.", "Lo recomiendo."],
    replies: ["Totalmente de acuerdo,", "No lo tengo claro.", "¡Gracias!", "A mí también:"],
    subjects: split("la paella | el maratón de Valencia | el cine de los ochenta | mi huerto | los trenes nocturnos")
  },
  {
    code: "de",
    share: 0.1,
    stop: ".",
    openers: split("Kurze Notiz: | Endlich! | Ehrliche Frage: | Heute gelernt: | Steile These:"),
    statements: split(
      "ich komme immer wieder auf {t} zurück | unser ganzes Team redet über {t} | " +
        "über {t} wird viel zu wenig geschrieben | drei Dinge, die ich gern früher über {t} gewusst hätte | " +
        "wer verbringt seine Abende noch mit {t}? | mein Vortrag über {t} ist angenommen"
    ),
    closers: ["Was meint ihr?", "Morgen mehr.", "Lohnt sich.", "Größtes Glück."],
    replies: ["Sehe ich genauso,", "Bin mir nicht sicher.", "Danke!", "Geht mir auch so:"],
    subjects: split("Käsespätzle | das Wetter an der Küste | Straßenbahnen | Brettspiele | den Stadtpark")
  },
  {
    code: "fr",
    share: 0.08,
    stop: ".",
    openers: ["Petite note :", "Enfin !", "Vraie question :", "Appris aujourd'hui :"],
    statements: split(
      "je reviens toujours à {t} | toute l'équipe parle de {t} | trois choses à savoir sur {t} | " +
        "j'ai écrit un court guide sur {t} | qui d'autre passe ses soirées avec {t} ?"
    ),
    closers: ["Qu'en pensez-vous ?", "La suite demain.", "Ça vaut le détour."],
    replies: ["Tout à fait d'accord,", "Pas si sûr.", "Merci !", "Pareil ici :"],
    subjects: split("la tarte tatin | le Tour | les vieux vélos | le marché du dimanche | la photo argentique")
  },
  {
    code: "pt",
    share: 0.05,
    stop: ".",
    openers: ["Nota rápida:", "Finalmente!", "Pergunta sincera:"],
    statements: [
      "não paro de pensar em {t}",
      "escrevi um guia curto sobre {t}",
      "ninguém me explicou {t} tão bem",
      "quem mais passa as noites com {t}?"
    ],
    closers: ["O que acham?", "Amanhã tem mais.", "Vale a pena."],
    replies: ["Concordo,", "Não sei não.", "Obrigado!"],
    subjects: ["o pão de queijo", "a maré em Lisboa", "o futebol de domingo", "samba antigo"]
  },
  {
    code: "ja",
    share: 0.08,
    stop: "",
    openers: ["メモ：", "ついに！", "今日の学び：", "質問です。"],
    statements: split(
      "最近ずっと{t}のことを考えています。 | {t}について短い記事を書きました。 | {t}は思ったより簡単でした。 | {t}の発表が採択されました。 | 夜はいつも{t}です。"
    ),
    closers: ["どう思いますか？", "続きは明日。", "おすすめです。"],
    replies: ["同感です。", "なるほど。", "ありがとうございます！"],
    subjects: split("味噌ラーメン | 京都の紅葉 | 自転車通勤 | 将棋 | 朝の珈琲")
  }
]

/** Spellings of the topic of most recent posts. */
export const topic = { words: ["Effect", "effect", "Effect 4", "effect/Schema", "Effect.gen"], tag: "effect" }

export const tags = split(
  "typescript | weekend | learning | 今日の一枚 | kaffee | buildinpublic | café | music | WIP | opensource"
)

export const cashtags = split("ACME | GLBX | INTX | UMBR | WAYN")

export const emoji = split("🚀 | ☕ | 🎉 | 🌱 | 😅 | 👩‍💻 | 🔥 | 📚")

export const sites = [
  "https://blog.example.com/notes/",
  "https://www.example.org/articles/",
  "https://news.example.net/story/",
  "https://docs.example.com/guide/"
]

export const sources = ["Postwire Web", "Postwire for Android", "Postwire for iPhone", "Postwire Scheduler"]

export const firstNames = split(
  "Grace | Alan | Barbara | Edsger | Katherine | Linus | Margaret | Dennis | Radia | Tim | Hedy | Ken | " +
    "Frances | Donald | Sophie | Niklaus | Yukihiro | Anita | John | Zoë | Mariana | Jürgen | Inés | Haruka | " +
    "Sören | Chloé | Mateo | Priya | Wei | Amara"
)

export const lastNames = split(
  "Moreau | Okafor | Tanaka | Lindqvist | Fischer | Garcia | Silva | Novak | Rossi | Haddad | Kim | Patel | " +
    "Dubois | Nielsen | Costa | Weber | Sato | Murphy | Ortega | Lang | Ivanova | Mensah | Yilmaz | Castro"
)

export const descriptions = split(
  "Writes code, bakes bread. | Opinions are mine. Dogs are everyone's. | Maps, trains and #typescript | " +
    "Distributed systems by day, trumpet by night 🎺 | Lektorin. Liest alles. | 写真と珈琲 | Building things with @ada | " +
    "Periodista. Ciclista. Optimista. | Numbers person. | "
)

/** Name, country, code, west, south, east, north. */
export const places = [
  ["Lisbon", "Portugal", "PT", -9.23, 38.69, -9.09, 38.8],
  ["Berlin", "Germany", "DE", 13.09, 52.34, 13.76, 52.68],
  ["Kyoto", "Japan", "JP", 135.56, 34.87, 135.88, 35.32],
  ["Valencia", "Spain", "ES", -0.43, 39.4, -0.29, 39.51],
  ["Lyon", "France", "FR", 4.77, 45.71, 4.9, 45.81],
  ["São Paulo", "Brazil", "BR", -46.83, -24.01, -46.37, -23.36],
  ["Toronto", "Canada", "CA", -79.64, 43.58, -79.12, 43.86],
  ["Nairobi", "Kenya", "KE", 36.66, -1.44, 37.1, -1.16],
  ["Oslo", "Norway", "NO", 10.49, 59.81, 10.95, 60.14],
  ["Wellington", "New Zealand", "NZ", 174.61, -41.36, 174.9, -41.14]
] as const

export const listNames = split("People to learn from | Compiler folks | Local news | Quiet voices | Conference hallway")

export const spaceTitles = split(
  "Effect office hours #effect | Typed errors, live | Ask the maintainers | #typescript news with @ada | " +
    "Coffee and code review | Night owls"
)

/** Topics of spaces. */
export const topics = [
  { id: "10026378521", name: "Software", description: "Programs and how they are made" },
  { id: "10026364281", name: "Mathematics", description: "Numbers, proofs and engines" },
  { id: "10026792024", name: "Music", description: "Listening together" }
]

/** Communities, by id. */
export const communities = [
  {
    id: "1501272736215322629",
    name: "Compilers and types",
    description: "Parsers, checkers, generators of code",
    access: "Public",
    joinPolicy: "Open"
  },
  {
    id: "1493446837214187523",
    name: "Film cameras",
    description: "Old lenses, new rolls",
    access: "Public",
    joinPolicy: "RestrictedJoinRequestsRequireModeratorApproval"
  },
  {
    id: "1456679428437381120",
    name: "Night trains",
    description: "Timetables, berths and views",
    access: "Closed",
    joinPolicy: "RestrictedJoinRequestsRequireAdminApproval"
  }
] as const

/** Recognised entities and their domains. */
export const notions = [
  {
    words: split("Effect | effect | effect/Schema | Effect.gen | typescript | opensource"),
    type: "Product",
    domain: { id: "46", name: "Software", description: "Programs, libraries and languages" },
    entity: { id: "848920371311001600", name: "Programming", description: "How programs are made" }
  },
  {
    words: split("Vienna | Valencia | Lisboa | Kyoto | 京都"),
    type: "Place",
    domain: { id: "160", name: "Cities" },
    entity: { id: "1070032753834438656", name: "Travel" }
  },
  {
    words: split("film cameras | jazz records | home espresso | sourdough baking | chess openings"),
    type: "Other",
    domain: { id: "66", name: "Pastimes", description: "What people like to do" },
    entity: { id: "825047692124442624", name: "Hobbies" }
  }
] as const
