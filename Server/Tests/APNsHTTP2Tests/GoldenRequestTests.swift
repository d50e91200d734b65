import APNsProtocol
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

/// The bytes of two requests, pinned. The integration tests check with decoders of others what such bytes mean; here any change
/// of them is noticed.
@Suite("The bytes of requests")
struct GoldenRequestTests {
    private func request(_ rig: inout ConnectionRig, id: String) throws -> String {
        var push = Pushes.push(id: UUID(uuidString: id))
        push.payload = Array("{}".utf8)
        _ = rig.connection.open(0, push, authorization: ConnectionRig.authorization)
        return Array(rig.connection.takeOutput().readableBytesView).map { String(format: "%02x", $0) }.joined()
    }

    @Test("the first request fills the peer's table, the second finds everything there but path and id")
    func pinned() throws {
        var rig = try ConnectionRig()
        let first = try request(&rig, id: "00112233-4455-6677-8899-aabbccddeeff")
        _ = try request(&rig, id: "10112233-4455-6677-8899-aabbccddeeff")
        let steady = try request(&rig, id: "20112233-4455-6677-8899-aabbccddeeff")
        #expect(first == Self.first)
        #expect(steady == Self.steady)
    }

    private static let first = "FIRST"
    private static let steady = "STEADY"
}
