import ArgumentParser

/// The codes of `sysexits.h`, so that a script can tell a mistake of its own from a server that is away.
extension ExitCode {
    /// A file that was named holds nothing that can be used.
    package static let badInput = ExitCode(65)
    /// A file that was named cannot be read.
    package static let noInput = ExitCode(66)
    /// A folder that was named cannot be made or written, or another process holds it.
    package static let cannotCreate = ExitCode(73)
    /// The settings have problems.
    package static let badSettings = ExitCode(78)
    /// The server cannot be reached.
    package static let unreachable = ExitCode(69)
    /// A program that the command needs is not there.
    package static let missingProgram = ExitCode(69)
    /// The server refused the name or the password.
    package static let noPermission = ExitCode(77)
    /// Nothing is known of the outcome yet; asking again is safe.
    package static let tryAgain = ExitCode(75)
}
