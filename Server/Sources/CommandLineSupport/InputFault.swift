import ArgumentParser

/// A file or folder that was named on the command line and cannot be used. Nothing was sent.
package struct InputFault: Error {
    /// What is wrong with which file, for people.
    package let sentence: String
    package let exitCode: ExitCode

    package init(_ sentence: String, _ exitCode: ExitCode) {
        self.sentence = sentence
        self.exitCode = exitCode
    }
}
