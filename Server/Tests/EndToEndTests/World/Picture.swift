import AsyncHTTPClient
import Foundation
import RichPushModel
import Testing

/// Pictures that exist nowhere else.
enum Picture {
    /// A GIF with random pixels. A GIF, because its bytes need no compression library.
    ///
    /// - Parameter padding: bytes of a second picture, which follows the first.
    static func random(side: UInt8, padding: Int = 0) -> Data {
        var bytes: [UInt8] = Array("GIF89a".utf8) + [side, 0, side, 0, 0xF0, 0, 0]
        bytes += (0..<6).map { _ in UInt8.random(in: .min ... .max) }
        bytes += [0x2C, 0, 0, 0, 0, side, 0, side, 0, 0, 0x02]
        for _ in 0..<8 { bytes += [0xFE] + (0..<0xFE).map { _ in UInt8.random(in: .min ... .max) } }
        bytes.append(0)
        if padding > 0 {
            bytes += [0x2C, 0, 0, 0, 0, side, 0, side, 0, 0, 0x02]
            for _ in 0..<(padding / 255) { bytes += [0xFE] + repeatElement(0x3B, count: 0xFE) }
            bytes.append(0)
        }
        return Data(bytes + [0x3B])
    }
}

extension APIClient {
    /// Stores a picture and sends it to the caller's own devices.
    func send(_ picture: Data, message: String) async throws -> RichID {
        let stored = try await call("POST", APIRoute.content, body: picture, headers: ["Content-Type": "image/gif"])
        try #require(stored.status == 201, "\(String(decoding: stored.body, as: UTF8.self))")
        var request = SendRequest(message: message)
        request.contentID = try stored.decoded(ContentAnswer.self).id
        request.altText = "Noise"
        let sent = try await call("POST", APIRoute.notifications, json: request)
        try #require(sent.status == 201, "\(String(decoding: sent.body, as: UTF8.self))")
        return try sent.decoded(SendAnswer.self).id
    }
}
