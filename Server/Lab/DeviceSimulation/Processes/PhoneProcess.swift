import Foundation
import RichPushDevice
import RichPushModel
import Synchronization

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

    /// Ends it when this time has passed on the machine's clock, unless the task is cancelled before.
    func kill(after limit: Duration) -> Task<Void, Never> {
        Task {
            guard (try? await SystemClock().sleep(for: limit)) != nil else { return }
            kill()
        }
    }

    func signal(_ number: CInt) { life.signal(number) }

    /// Its exit status, or 128 and the number of the signal that ended it.
    var exitStatus: CInt { get async { await life.status.value } }

    deinit {
        channel.close()
        life.signal(SIGKILL)
    }

    /// Starts a command whose input and output are one end of a socket, and which inherits nothing else; returns our end.
    static func spawn(_ command: [String]) throws(Failure) -> (socket: CInt, processID: pid_t) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, Self.stream, 0, &ends) == 0 else { throw Failure() }
        defer { _ = close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = Self.fileActions()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        // Closing one that is closed meanwhile does no harm.
        for descriptor in openDescriptors() where descriptor > 2 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var processID: pid_t = 0
        let status = withCStrings(command) { arguments in
            withCStrings(ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawnp(&processID, command[0], &actions, nil, arguments, variables)
            }
        }
        guard status == 0 else {
            _ = close(ends[0])
            throw Failure()
        }
        return (ends[0], processID)
    }

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
        private static func fileActions() -> posix_spawn_file_actions_t? { nil }
    #elseif canImport(Musl)
        private static let stream = CInt(SOCK_STREAM) | CInt(SOCK_CLOEXEC)
        private static func fileActions() -> posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
    #else
        private static let stream = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        private static func fileActions() -> posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
    #endif

    private static func openDescriptors() -> [CInt] {
        let folder = FileManager.default.fileExists(atPath: "/proc/self/fd") ? "/proc/self/fd" : "/dev/fd"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { CInt($0) }
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

/// From the start of a child to its collection. Signals and collection exclude each other: the process id of a collected child may
/// have been reused.
private final class ProcessLife: Sendable {
    let processID: pid_t
    /// The exit status, as shells count.
    let status = FirstResult<CInt>()
    private let isCollected = Mutex(false)

    init(_ processID: pid_t) { self.processID = processID }

    /// Sends a signal, unless the child was collected.
    func signal(_ number: CInt) {
        isCollected.withLock { isCollected in
            if !isCollected { _ = kill(processID, number) }
        }
    }

    /// Waits for the end and collects the child. Blocks its thread.
    func collect() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        let result = isCollected.withLock { isCollected -> CInt in
            var status: CInt = 0
            while waitpid(processID, &status, 0) == -1, errno == EINTR {}
            isCollected = true
            let signal = status & 0x7f
            return signal == 0 ? (status >> 8) & 0xff : 128 + signal
        }
        let status = status
        Task { await status.resolve(result) }
    }
}

/// One end of a socket between the phone and a process of it: lines of JSON in both directions.
///
/// A thread reads, because reading blocks and the threads of the pools must not. The channel ends when the other end is closed, when
/// a line is longer than the limit, or when too many lines are unread.
final class LineChannel: Sendable {
    /// No line is longer: content goes through files.
    private static let lineLimit = 4 << 20
    private static let waitingLimit = 4_096

    /// The lines of the other side, once. Ends with the channel.
    let lines: AsyncStream<Data>
    private let socket: LineSocket

    /// Takes over a socket and begins to read. `onEnd` is called on the reading thread when no more lines come.
    init(_ descriptor: CInt, onEnd: @escaping @Sendable () -> Void = {}) {
        let socket = LineSocket(descriptor)
        self.socket = socket
        let (lines, continuation) = AsyncStream.makeStream(
            of: Data.self, bufferingPolicy: .bufferingOldest(Self.waitingLimit))
        self.lines = lines
        BlockingThread.start {
            socket.readLines(limit: Self.lineLimit) { line in
                if case .dropped = continuation.yield(line) { return false }
                return true
            }
            continuation.finish()
            onEnd()
        }
    }

    /// Writes a line, `count` times in one write; `false` when it could not be written whole in time, and then the channel is of no
    /// use any more.
    @discardableResult
    func send(_ value: some Encodable, count: Int = 1) -> Bool {
        guard let line = try? JSONEncoder().encode(value) else { return false }
        return socket.write(Data(repeatElement(line + Data("\n".utf8), count: count).joined()))
    }

    /// Says to the other side that nothing more comes. What it still sends is read.
    func close() { socket.finishWriting() }

    deinit { close() }
}

/// A socket that one thread reads and many tasks write. The descriptor is closed by the reader alone, under the lock that writers
/// hold, so that no write goes to a reused descriptor.
private final class LineSocket: Sendable {
    /// How long a write may wait for a reader that does not read.
    private static let writeSeconds = 5

    private let descriptor: Mutex<CInt?>
    /// For reading, until the reader closes it.
    private let number: CInt

    init(_ descriptor: CInt) {
        number = descriptor
        self.descriptor = Mutex(descriptor)
        var limit = timeval(tv_sec: Self.writeSeconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Whether all of it was written.
    func write(_ data: Data) -> Bool {
        descriptor.withLock { descriptor in
            guard let descriptor else { return false }
            return data.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = Self.send(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return false }
                    rest = rest.dropFirst(count)
                }
                return true
            }
        }
    }

    func finishWriting() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = shutdown(descriptor, CInt(SHUT_WR)) }
        }
    }

    /// Reads until the other end is closed or `take` wants no more, and closes the socket. Blocks its thread.
    func readLines(limit: Int, _ take: (Data) -> Bool) {
        defer { end() }
        var waiting = Data()
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(number, &piece, piece.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            var start = 0
            for index in 0..<count where piece[index] == UInt8(ascii: "\n") {
                guard take(waiting + Data(piece[start..<index])) else { return }
                waiting = Data()
                start = index + 1
            }
            waiting.append(contentsOf: piece[start..<count])
            guard waiting.count <= limit else { return }
        }
    }

    private func end() {
        descriptor.withLock { descriptor in
            guard descriptor != nil else { return }
            descriptor = nil
            #if canImport(Darwin)
                _ = Darwin.close(number)
            #elseif canImport(Musl)
                _ = Musl.close(number)
            #else
                _ = Glibc.close(number)
            #endif
        }
    }

    /// A reader that is gone is an error here, not a signal that ends the program.
    private static func send(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #elseif canImport(Musl)
            Musl.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        #else
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        #endif
    }
}

/// A thread for work that blocks. `Thread` is in Foundation's larger half, which the program has anyway.
enum BlockingThread {
    /// Starts a thread with a small stack that ends with the body.
    static func start(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.stackSize = 256 << 10
        thread.start()
    }
}

extension FirstResult {
    /// The result, or `other` when there is none by the limit.
    func value(or other: Value, after limit: Duration, clock: any ServiceClock) async -> Value {
        let timer = Task {
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            resolve(other)
        }
        defer { timer.cancel() }
        return await value
    }
}
