import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the server last acknowledged of this installation.
struct RegistrationState: Hashable, Sendable, Codable {
    var digest: String
    var acknowledgedAt: Timestamp
    /// As the server answered.
    var environments: [String]?
    /// The tags that it took; absent in what an older version wrote.
    var tags: [Tag]?

    /// A hash of everything that the server should know.
    static func digest(of update: InstallationUpdate) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = (try? encoder.encode(update)) ?? Data()
        return DigestText.digest(String(decoding: data, as: UTF8.self))
    }

    /// Whether the server must hear of `digest`: it is news, or the last word is a heartbeat old, or the clock was set back.
    func isDue(_ digest: String, now: Timestamp, heartbeat: Duration) -> Bool {
        self.digest != digest || now - acknowledgedAt >= heartbeat || now < acknowledgedAt
    }
}
