import Foundation

extension ChildProcess {
    /// Starts the command with its output in its file, an empty input and none of the test's other descriptors.
    static func spawn(_ command: Command) throws -> Int32 {
        let output = open(command.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw failure("open \(command.output)", errno) }
        defer { close(output) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        if command.capturesErrors { posix_spawn_file_actions_adddup2(&actions, output, 2) }
        for descriptor in 3...highestDescriptor() + 1_000 { posix_spawn_file_actions_addclose(&actions, descriptor) }

        let environment = command.environment ?? ProcessInfo.processInfo.environment
        var processID: pid_t = 0
        let status = withCStrings([command.program] + command.arguments) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawnp(&processID, command.program, &actions, nil, arguments, variables)
            }
        }
        guard status == 0 else { throw failure("start \(command.program)", status) }
        return processID
    }

    /// The highest descriptor that a child would inherit. Other threads open files meanwhile, each at the lowest free number, so a
    /// margin above it catches them. Closing what is not open is ignored in the child.
    private static func highestDescriptor() -> Int32 {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap(Int32.init).max() ?? 3
    }

    private static func failure(_ action: String, _ code: Int32) -> Failure {
        Failure(description: "could not \(action): \(String(cString: strerror(code)))")
    }

    /// The strings as a list that ends with a null pointer, for the time of the body.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return body(copies)
    }
}
