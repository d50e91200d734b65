import Foundation

/// A request that a real client sent, and an answer that it accepted.
struct Recording: Decodable, Sendable {
    struct Answer: Decodable, Sendable {
        var status: Int
        var headers: [String: String]
        var body: String?
    }

    var time: Date
    var `protocol`: String
    var method: String
    var target: String
    var headers: [[String]]
    var body: String
    var answer: Answer

    enum CodingKeys: String, CodingKey {
        case time, `protocol`, method, target, headers, body, answer
    }

    /// The lines of one client, in order.
    static func all(of client: HubClient) throws -> [Recording] {
        let name = "azure-\(client.rawValue)"
        guard let url = Bundle.module.url(forResource: name, withExtension: "jsonl", subdirectory: "Recordings") else {
            throw ClientAnswer.Unreadable("no recording of \(client)")
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(Recording.self, from: Data($0))
        }
    }

    func header(_ name: String) -> String? { headers.first { $0[0] == name }?[1] }

    /// The id of the registration in the answer, if there is one.
    var registrationID: String? {
        answer.body?.firstMatch(of: #/<RegistrationId>([^<]+)<\/RegistrationId>/#).map { String($0.1) } ?? locationID
    }

    /// The id at the end of the answer's `Location`.
    var locationID: String? {
        guard let location = answer.headers["location"], let slash = location.lastIndex(of: "/") else { return nil }
        return String(location[location.index(after: slash)...].prefix { $0 != "?" })
    }
}
