import APNsProtocol
import Foundation
import Testing

@Suite("Disposition of refusals")
struct APNsDispositionTests {
    @Test(
        "every reason leads to what the table says",
        arguments: [
            (400, "BadCollapseId", APNsDisposition.fixRequest), (400, "BadDeviceToken", .badToken),
            (400, "BadExpirationDate", .fixRequest), (400, "BadMessageId", .fixRequest), (400, "BadPriority", .fixRequest),
            (400, "BadTopic", .fixRequest), (400, "DeviceTokenNotForTopic", .drop), (400, "DuplicateHeaders", .fixRequest),
            (400, "IdleTimeout", .newConnection), (400, "InvalidPushType", .fixRequest), (400, "MissingDeviceToken", .fixRequest),
            (400, "MissingTopic", .fixRequest), (400, "PayloadEmpty", .fixRequest), (400, "TopicDisallowed", .fixRequest),
            (403, "BadCertificate", .fixConfiguration), (403, "BadCertificateEnvironment", .fixConfiguration),
            (403, "ExpiredProviderToken", .newToken), (403, "Forbidden", .drop),
            (403, "InvalidProviderToken", .fixConfiguration), (403, "MissingProviderToken", .fixConfiguration),
            (403, "UnrelatedKeyIdInToken", .newConnection), (403, "BadEnvironmentKeyInToken", .fixConfiguration),
            (403, "BadEnvironmentKeyIdInToken", .fixConfiguration), (404, "BadPath", .fixRequest),
            (405, "MethodNotAllowed", .fixRequest), (410, "ExpiredToken", .removeToken), (410, "Unregistered", .removeToken),
            (413, "PayloadTooLarge", .fixRequest), (429, "TooManyProviderTokenUpdates", .newConnection),
            (429, "TooManyRequests", .later), (500, "InternalServerError", .later), (503, "ServiceUnavailable", .later),
            (503, "Service Unavailable", .later), (503, "Shutdown", .newConnection),
        ])
    func known(status: Int, reason: String, disposition: APNsDisposition) {
        #expect(APNsRejection(status: status, reason: APNsReason(rawValue: reason + " ")).disposition == disposition)
    }

    @Test(
        "an unknown reason is classified by its status",
        arguments: [
            (400, APNsDisposition.fixRequest), (403, .fixConfiguration), (410, .removeToken), (429, .later), (502, .later),
            (302, .drop),
        ])
    func unknown(status: Int, disposition: APNsDisposition) {
        #expect(APNsRejection(status: status, reason: APNsReason(rawValue: "NeverHeard")).disposition == disposition)
    }

    @Test("an apns-id is written in lower case and read in either")
    func identifiers() throws {
        let text = "0f0E0d0C-0b0a-0908-0706-050403020100"
        let uuid = try #require(UUID(uuidString: text))
        #expect(APNsUUID.text(uuid) == text.lowercased())
        #expect(APNsUUID.parse(text.utf8) == uuid)
        #expect(APNsUUID.parse(text.uppercased().utf8) == uuid)
        for bad in ["", "0", text + "0", String(text.dropLast()), text.replacing("-", with: "_"), text.replacing("a", with: "g")]
        {
            #expect(APNsUUID.parse(bad.utf8) == nil)
        }
    }
}
