/// What the reference page, the example file and the report say about one setting, without the type of its value.
struct SettingDeclaration: Sendable {
    /// The word in the file. The flag is `--` and this word; the variable is `CLARION_` and this word in upper case.
    var key: String
    var section: SettingSection
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

    /// A secret may come from a file that this variable names, so that it stands in no process list.
    var fileVariable: String? { isSecret ? variable + "_FILE" : nil }

    static let variablePrefix = "CLARION_"

    static func variable(for key: String) -> String {
        variablePrefix + key.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }
}

/// The chapters of the reference page, in order.
enum SettingSection: String, CaseIterable, Sendable {
    case storage = "Storage"
    case contentStore = "Contents on S3"
    case nodes = "Several nodes"
    case retention = "Retention"
    case listening = "Listening"
    case metrics = "Metrics"
    case logging = "Logging"
    case apns = "Apple's push service"
    case notifications = "Notifications"
    case users = "Users"
    case hubLimits = "Limits of the hub protocol"
    case endings = "Deadlines"
}
