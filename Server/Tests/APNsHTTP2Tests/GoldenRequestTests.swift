import APNsProtocol
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

/// The bytes of two requests, pinned. The integration tests check with decoders of others what such bytes mean; here any change
/// of them is noticed. Both were decoded once with Python's `hpack` when they were pinned: the values of `ConnectionRig` and
/// `Pushes`, in the order of Reference/APNs.md#9-2, the second with a header block of 92 bytes.
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

    private static let first = """
        0000bd0104000000018387418d1d665ebb513ae3aeba0ab90f4f04b56196242f7310ac00010884cb2d34db6e38ebaf3cfbe31c7190924852\
        cb280010884cb2d34db6e38ebaf3cfbe31c7190924852cb2ff578d8ca3b0b628318d78e38d72109f40871d7521649eb3138b21e95cbe474d\
        741571d75f408a1d75216aed44eb27d565841d05b13f408a1d75216aec31ec327d7f023130408b1d752162f9acd60d263d5f013040851d75\
        2163499a00021109965669a6db59c71d75679e7df58638e3212490a5965f0000020001000000017b7d
        """
    private static let steady = """
        00005c0104000000058387c404b56196242f7310ac00010884cb2d34db6e38ebaf3cfbe31c7190924852cb280010884cb2d34db6e38ebaf3\
        cfbe31c7190924852cb2ffc3c2c1c0bf0f2f9a10021109965669a6db59c71d75679e7df58638e3212490a5965f0000020001000000057b7d
        """
}
