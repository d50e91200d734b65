import APNsProtocol
import Crypto
import NIOCore

@testable import APNsEmulation

/// What the local APNs reads of its clients.
extension FuzzedReader {
    static let emulator = [
        FuzzedReader("emulator-frames", readTraffic), FuzzedReader("emulator-request", readRequest),
        FuzzedReader("provider-token", readProviderToken),
    ]

    /// Frames are the same however the bytes are cut, and the recorder never holds back more than one.
    @Sendable private static func readTraffic(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let size = 1 + input.choice(below: 64)
        let whole = frames([input.rest])
        precondition(whole == frames(input.rest.pieces(of: size)), "the cut decides what is read")
        var observer = HPACKObserver(tableSize: 4_096)
        for frame in whole where frame.type == 1 { observer.observe(ByteBuffer(bytes: frame.payload)) }
        precondition(observer.statistics.bytes <= bytes.count, "more bytes were counted than came")
    }

    private struct SeenFrame: Equatable {
        var type: UInt8
        var flags: UInt8
        var stream: Int
        var payload: [UInt8]
    }

    private static func frames(_ pieces: [[UInt8]]) -> [SeenFrame] {
        var scanner = FrameScanner(skipsPreface: true)
        var seen: [SeenFrame] = []
        for piece in pieces {
            scanner.feed(ByteBuffer(bytes: piece)) {
                seen.append(
                    SeenFrame(type: $0.type, flags: $0.flags, stream: $0.stream, payload: Array($0.payload.readableBytesView)))
            }
        }
        return seen
    }

    /// The values of a request's fields, one in each line.
    @Sendable private static func readRequest(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let path = input.line()
        _ = RequestPath(path)
        _ = RequestPath(path, service: .channelManagement)
        let topic = input.line()
        let name = TopicName(topic)
        precondition(name.bundleID + name.suffix == topic, "a topic lost a part")
        let value = input.line()
        _ = APNsText.isDeviceToken(value) || APNsText.isTopic(value) || APNsText.isChannelID(value) || APNsText.isUUID(value)
        _ = Credential.bearerToken(value)
    }

    /// A header of a provider: no token but a signed one is believed.
    @Sendable private static func readProviderToken(_ bytes: [UInt8]) {
        guard let token = PresentedToken(String(decoding: bytes, as: UTF8.self)) else { return }
        precondition(!token.isSigned(by: key), "an unsigned token is accepted")
    }

    private static let key = P256.Signing.PrivateKey().publicKey
}
