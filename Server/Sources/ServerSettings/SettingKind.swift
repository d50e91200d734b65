/// The type of a setting: how its texts are read, how a value is written back, and what to say when a text does not fit.
///
/// Every source hands over text and every text is read here, so that a port is the same port on a command line, in a variable
/// and in a file, and so that nothing malformed can turn into a default.
struct SettingKind<Value: Sendable>: Sendable {
    /// What is accepted, as the end of the sentence "is not …".
    let accepts: String
    let isList: Bool
    let isFlag: Bool
    /// Reads the texts of a value; one text unless `isList`. `nil` means that they do not fit.
    let parse: @Sendable ([String]) -> Value?
    /// Writes a value as it would stand in the file; `nil` means that there is none.
    let format: @Sendable (Value) -> [String]?

    /// A kind whose value is one text.
    static func scalar(
        _ accepts: String, isFlag: Bool = false, parse: @escaping @Sendable (String) -> Value?,
        format: @escaping @Sendable (Value) -> String
    ) -> SettingKind {
        SettingKind(
            accepts: accepts, isList: false, isFlag: isFlag,
            parse: { texts in texts.count == 1 ? texts.first.flatMap(parse) : nil },
            format: { [format($0)] })
    }

    /// A kind that may be absent.
    static func optional<Wrapped: Sendable>(_ kind: SettingKind<Wrapped>) -> SettingKind where Value == Wrapped? {
        SettingKind(
            accepts: kind.accepts, isList: kind.isList, isFlag: kind.isFlag,
            parse: { texts in kind.parse(texts).map(Optional.some) },
            format: { value in value.flatMap(kind.format) })
    }

    /// A list of values of one kind; commas separate them outside the file.
    static func list<Element: Sendable>(_ kind: SettingKind<Element>) -> SettingKind where Value == [Element] {
        SettingKind(
            accepts: "a list in which each element is \(kind.accepts)", isList: true, isFlag: false,
            parse: { texts in
                let values = texts.compactMap { kind.parse([$0]) }
                return values.count == texts.count ? values : nil
            },
            format: { values in values.flatMap { kind.format($0) ?? [] } })
    }
}
