import ClarionTesting
import Foundation
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import ServerComposition

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite("The service manager")
struct ServiceManagerTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("is absent without a socket, and its watchdog without a period or for another process")
    func environment() throws {
        #expect(ServiceManager(environment: [:]) == nil)
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": "relative"]) == nil)
        #expect(try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/x"])).watchdog == nil)
        var environment = ["NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "3000000"]
        #expect(try #require(ServiceManager(environment: environment)).watchdog == .seconds(3))
        environment["WATCHDOG_PID"] = "17"
        #expect(try #require(ServiceManager(environment: environment, processID: 18)).watchdog == nil)
        #expect(try #require(ServiceManager(environment: environment, processID: 17)).watchdog == .seconds(3))
    }

    @Test("gets one datagram for each message")
    func messages() throws {
        let socket = try NotifySocket()
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.path]))
        try manager.send(.ready)
        try manager.send(.stopping)
        #expect([socket.next(), socket.next()] == ["READY=1", "STOPPING=1"])
    }

    #if os(Linux)
        @Test("may have its socket in the abstract namespace")
        func abstract() throws {
            let socket = try NotifySocket(abstract: true)
            let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.path]))
            try manager.send(.ready)
            #expect(socket.next() == "READY=1")
        }
    #endif

    @Test("that is gone is an error, which does not stop the node")
    func gone() throws {
        let path = NSTemporaryDirectory() + "clarion-none-\(UUID().uuidString)"
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": path]))
        #expect(throws: (any Error).self) { try manager.send(.ready) }
        let long = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]))
        #expect(throws: (any Error).self) { try long.send(.ready) }
        manager.notify(.ready, logger)
    }

    @Test("hears of a node whose event loops answer, and not of one with a loop that is blocked")
    func watchdog() async throws {
        let socket = try NotifySocket()
        let manager = try #require(
            ServiceManager(environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "3000000"]))
        let (clock, logger) = (ManualClock(), logger)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let task = Task { await manager.watch(group, clock: clock, logger: logger) }
        #expect(socket.next() == "WATCHDOG=1")
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .seconds(1))
        #expect(socket.next() == "WATCHDOG=1")
        #expect(await eventually { clock.sleeperCount == 1 })
        // One of the two loops is held until the test lets it go.
        let gate = DispatchSemaphore(value: 0)
        let held = group.next().submit { gate.wait() }
        clock.advance(by: .seconds(1))
        #expect(socket.isSilent())
        gate.signal()
        #expect(socket.next() == "WATCHDOG=1")
        try await held.get()
        task.cancel()
        await task.value
        try await group.shutdownGracefully()
    }
}

/// A socket as systemd has one.
private final class NotifySocket: Sendable {
    struct Failure: Error { var code: Int32 }

    let path: String
    private let descriptor: Int32

    init(abstract: Bool = false) throws {
        path = (abstract ? "@" : "/tmp/") + "clarion-notify-\(UUID().uuidString)"
        #if os(Linux)
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if abstract { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else { throw Failure(code: errno) }
        // No wait is without an end.
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// The next datagram; `nil` when none came.
    func next() -> String? { receive(flags: 0) }

    /// Whether nothing has come.
    func isSilent() -> Bool { receive(flags: Int32(MSG_DONTWAIT)) == nil }

    private func receive(flags: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &bytes, bytes.count, flags)
        return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
