/// One setting: its name, what it accepts and what holds without it. Declared once, in `SettingCatalog` or one of its groups.
public struct Setting<Value: Hashable & Sendable>: Sendable {
    let declaration: SettingDeclaration
    let kind: SettingKind<Value>
    let defaultValue: Value

    /// Declares a setting; `explanation` is one or two sentences that say what it does and when to change it.
    init(
        _ key: String, _ kind: SettingKind<Value>, default defaultValue: Value, secret: Bool = false, _ explanation: String
    ) {
        self.kind = kind
        self.defaultValue = defaultValue
        declaration = SettingDeclaration(
            key: key, accepts: kind.accepts, defaultTexts: kind.format(defaultValue), isSecret: secret,
            isList: kind.isList, isFlag: kind.isFlag, explanation: explanation)
    }
}

/// A setting whose type of value is not known.
protocol AnySetting: Sendable {
    var declaration: SettingDeclaration { get }

    /// Takes the value of the setting from the sources.
    func read(by resolver: inout SettingsResolver)
}

extension Setting: AnySetting {
    func read(by resolver: inout SettingsResolver) { resolver.read(self) }
}

/// Settings that are read together, as `settings.GROUP.NAME`.
public protocol SettingGroup: Sendable {}

/// The values of settings by key.
struct SettingValues: Hashable, Sendable {
    private struct Stored: Hashable, Sendable {
        let value: any Hashable & Sendable

        static func == (one: Stored, other: Stored) -> Bool { AnyHashable(one.value) == AnyHashable(other.value) }

        func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
    }

    private var stored: [String: Stored] = [:]

    /// The value of a setting, its default unless one was stored.
    subscript<Value>(setting: Setting<Value>) -> Value {
        get { stored[setting.declaration.key].flatMap { $0.value as? Value } ?? setting.defaultValue }
        set { stored[setting.declaration.key] = Stored(value: newValue) }
    }
}

/// The values of the settings of one group, each under the name of its declaration.
@dynamicMemberLookup
public struct GroupedSettings<Group: SettingGroup>: Sendable {
    var values: SettingValues
    let group: Group

    public subscript<Value>(dynamicMember key: KeyPath<Group, Setting<Value>>) -> Value {
        get { values[group[keyPath: key]] }
        set { values[group[keyPath: key]] = newValue }
    }
}

/// What the reference page, the example file and the report say about one setting, without the type of its value.
struct SettingDeclaration: Sendable {
    /// The word in the file. The flag is `--` and this word; the variable is `CLARION_` and this word in upper case.
    var key: String
    /// What is accepted, as the end of the sentence "is not …".
    var accepts: String
    /// The default as it would stand in the file; absent when the setting has none.
    var defaultTexts: [String]?
    var isSecret: Bool
    var isList: Bool
    /// A flag may stand on the command line without a value and then means `true`.
    var isFlag: Bool
    var explanation: String

    var flag: String { "--" + key }

    var variable: String { Self.variable(for: key) }

    /// Whether the value names a file or a folder.
    var isPath: Bool { accepts == SettingKind.path.accepts }

    /// A secret may come from a file that this variable names, so that it stands in no process list.
    var fileVariable: String? { isSecret ? variable + "_FILE" : nil }

    static let variablePrefix = "CLARION_"

    static func variable(for key: String) -> String {
        variablePrefix + key.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }
}
