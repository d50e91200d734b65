/// One setting: what it is called, what it accepts and what holds without it. Declared once, in `SettingCatalog`.
struct Setting<Value: Sendable>: Sendable {
    let declaration: SettingDeclaration
    let kind: SettingKind<Value>
    let defaultValue: Value

    /// Declares a setting; `explanation` is one or two sentences that say what it does and when to change it.
    init(
        _ key: String, _ kind: SettingKind<Value>, default defaultValue: Value, in section: SettingSection, secret: Bool = false,
        _ explanation: String
    ) {
        self.kind = kind
        self.defaultValue = defaultValue
        declaration = SettingDeclaration(
            key: key, section: section, accepts: kind.accepts, defaultTexts: kind.format(defaultValue), isSecret: secret,
            isList: kind.isList, isFlag: kind.isFlag, explanation: explanation)
    }
}
