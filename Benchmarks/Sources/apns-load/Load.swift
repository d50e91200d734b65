import APNsHTTP2
import APNsProtocol
import Crypto
import Foundation
import Logging
import NIOCore
import NIOPosix
import RichPushModel

/// One run of the client against a sink, everything switched on that a server has on.
struct Load {
    let options: LoadOptions
    let client: APNsClient
    let loops: [any EventLoop]
    private let body: [UInt8]
    let tokens: [APNsDeviceToken]
    private static let headers = APNsPush.Headers(topic: "com.example.app", pushType: .alert, priority: 10, expiration: 0)

    init(_ options: LoadOptions, group: MultiThreadedEventLoopGroup) throws {
        self.options = options
        loops = Array(group.makeIterator())
        let key = try ProviderTokenKey(privateKey: P256.Signing.PrivateKey(), keyID: "KEY4567890", teamID: "TEAM567890")
        let pem = try String(contentsOfFile: options.certificate, encoding: .utf8)
        var limits = APNsClientLimits()
        if options.mode != .rate {
            limits.connections = options.loops
            limits.streamsPerConnection = options.window
        }
        client = try APNsClient(
            configuration: APNsClientConfiguration(
                environment: .production, credential: .token(ProviderTokenCache(key: key, clock: SystemClock())),
                endpoint: .init(host: "127.0.0.1", port: options.port, serverName: "localhost"),
                transport: .tls(.additional(pem: pem)), eventLoops: options.loops, limits: limits),
            eventLoopGroup: group, logger: Logger(label: "apns-load", factory: { _ in SwiftLogNoOpLogHandler() }))
        let text = #"{"aps":{"alert":""#
        body = Array(text.utf8) + [UInt8](repeating: 0x78, count: max(0, options.body - text.utf8.count - 3)) + Array("\"}}".utf8)
        tokens =
            try options.mode == .list
            ? String(contentsOfFile: options.tokens, encoding: .utf8).split(separator: "\n").map { APNsDeviceToken(String($0)) }
            : (0..<4096).map { APNsDeviceToken(Self.token($0)) }
    }

    /// 64 hexadecimal digits. Cheap, because making tokens is no part of what is measured.
    private static func token(_ number: Int) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let digest = withUnsafeBytes(of: number) { SHA256.hash(data: $0) }
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    func push(_ number: Int) -> APNsPush {
        APNsPush(
            token: tokens[number % tokens.count], headers: Self.headers, payload: body,
            apnsID: options.hasIDs ? UUID() : nil)
    }

    func run() async -> LoadResult {
        // A list is counted push by push, and its connection with it.
        if options.mode != .list {
            guard case .accepted? = await client.send([push(0)]).first else { return LoadResult(sent: 1, accepted: 0) }
        }
        let start = ContinuousClock.now
        let before = Resources.now()
        var result: LoadResult =
            switch options.mode {
            case .batch: await sendBatches()
            case .loop: await sendOnLoops()
            case .pool: await sendOneByOne()
            case .list: await sendList()
            case .rate, .fcm: await sendAtRate()
            }
        let after = Resources.now()
        result.processor = after.processor - before.processor
        result.resident = after.resident
        result.residentPeak = Resources.peakBytes()
        result.seconds = start.duration(to: .now) / .seconds(1)
        result.connections = client.metrics.connections
        await client.shutdown(within: .seconds(5))
        return result
    }

    /// Callers on each of the client's loops.
    private func sendOnLoops() async -> LoadResult {
        await withTaskGroup(of: LoadResult.self) { group in
            for loop in loops { group.addTask { await CallersOnLoop(load: self, loop: loop).send() } }
            return await group.reduce(into: LoadResult()) { $0.add($1) }
        }
    }

    /// Enough callers to keep the window full.
    private func sendBatches() async -> LoadResult {
        let size = min(options.batch, options.window)
        let callers = options.window == 1 ? 1 : max(2, 2 * options.window / size)
        let share = max(1, options.count / callers / size)
        return await withTaskGroup(of: LoadResult.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    // The caller's own work is not what is measured, so the pushes are made once.
                    let pushes = (0..<size).map { push(caller * size + $0) }
                    var result = LoadResult()
                    for round in 0..<share {
                        let start = ContinuousClock.now
                        result.add(await client.send(pushes))
                        result.latency.add(start.duration(to: .now))
                        // All callers are about as far; one of them looks.
                        if caller == 0, round == share / 10 { result.residentEarly = Resources.residentBytes() }
                    }
                    return result
                }
            }
            return await group.reduce(into: LoadResult()) { $0.add($1) }
        }
    }

    private func sendOneByOne() async -> LoadResult {
        await withTaskGroup(of: LoadResult.self) { group in
            for caller in 0..<options.window {
                group.addTask {
                    let push = push(caller)
                    var result = LoadResult()
                    for _ in 0..<max(1, options.count / options.window) {
                        let start = ContinuousClock.now
                        result.add(await client.send(push))
                        result.latency.add(start.duration(to: .now))
                    }
                    return result
                }
            }
            return await group.reduce(into: LoadResult()) { $0.add($1) }
        }
    }
}
