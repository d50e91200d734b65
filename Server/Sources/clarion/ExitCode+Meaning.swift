import ArgumentParser

/// The codes of `sysexits.h`, so that a script can tell a mistake of its own from a server that is away.
extension ExitCode {
    /// A file that was named holds nothing that can be used.
    static let badInput = ExitCode(65)
    /// A file that was named cannot be read.
    static let noInput = ExitCode(66)
    /// A folder that was named cannot be made or written, or another process holds it.
    static let cannotCreate = ExitCode(73)
    /// The settings have problems.
    static let badSettings = ExitCode(78)
    /// The server cannot be reached.
    static let unreachable = ExitCode(69)
    /// The server refused the name or the password.
    static let noPermission = ExitCode(77)
    /// Nothing is known of the outcome yet; asking again is safe.
    static let tryAgain = ExitCode(75)
}
