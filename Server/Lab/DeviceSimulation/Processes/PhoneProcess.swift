import RichPushDevice

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A process of a simulated phone, seen from the phone. The thread that reads its lines also waits for its end, so that no zombie
/// is left.
final class PhoneProcess: Sendable {
    /// Which part of the app runs in it.
    enum Role: String, Sendable {
        case app
        case serviceExtension = "extension"
    }

    /// Why there is no process.
    struct Failure: Error {}

    let channel: LineChannel
    private let life: ProcessLife

    /// Starts `PROGRAM phone-process ROLE` with a socket as its input and output.
    init(program: String, role: Role, arguments: [String] = []) throws(Failure) {
        let (socket, processID) = try Self.spawn([program, "phone-process", role.rawValue] + arguments)
        let life = ProcessLife(processID)
        self.life = life
        channel = LineChannel(socket) { life.collect() }
    }

    var processID: pid_t { life.processID }

    /// Ends it at once, unless it has ended.
    func kill() { life.signal(SIGKILL) }

    func signal(_ number: CInt) { life.signal(number) }

    /// Its exit status, or 128 and the number of the signal that ended it.
    var exitStatus: CInt { get async { await life.status.value } }

    deinit {
        channel.close()
        life.signal(SIGKILL)
    }
}
