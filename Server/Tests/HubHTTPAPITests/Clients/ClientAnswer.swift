/// An answer, and how the clients take it apart. What a client cannot read throws.
struct ClientAnswer: Sendable {
    /// Why a client would fail.
    struct Unreadable: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    var status: Int
    /// Names in lower case.
    var headers: [String: String]
    var body: String

    func location() throws -> String {
        guard let location = headers["location"] else { throw Unreadable("no Location") }
        return location
    }

    /// The id as the client finds it in `Location` (Reference/AzureNotificationHubs.md#0-7 and #2-3). `asked` is the URL of the
    /// request.
    func id(as client: HubClient, asked: String) throws -> String {
        let location = try location()
        // The id of a batch lies among those of all sends.
        let path = String(asked.prefix { $0 != "?" }).replacing("/$batch", with: "")
        let collection = path.hasSuffix("/") ? path : path + "/"
        let version = asked.contains("api-version=") ? "?api-version=" : ""
        switch client {
        case .dotNet: return try lastOfFourSegments(location)
        case .javaScript: return try thirdSegment(location)
        case .java:
            let word = collection.split(separator: "/").last.map { "/\($0)/" } ?? ""
            return try between(word, and: "?", in: location)
        case .php:
            guard location.hasPrefix(collection) else { throw Unreadable("Location does not continue the request's URL") }
            return try between(collection, and: version, in: location)
        case .go: return try between("/\(collection.split(separator: "/").last ?? "")/", and: "?api-version=", in: location)
        case .appleLegacy, .androidLegacy, .nodeLegacy, .apple, .android, .ruby, .python:
            guard let slash = location.lastIndex(of: "/") else { throw Unreadable("no slash in Location") }
            return String(location[location.index(after: slash)...].prefix { $0 != "?" })
        }
    }

    private func segments(_ location: String) throws -> [Substring] {
        guard location.hasPrefix("https://") else { throw Unreadable("Location is not absolute and https") }
        let path = location.dropFirst(8).drop { $0 != "/" }.prefix { $0 != "?" }
        return path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { $0 }
    }

    /// `Uri.Segments` has the slash of the root and three more.
    private func lastOfFourSegments(_ location: String) throws -> String {
        let segments = try segments(location)
        guard segments.count == 3, let last = segments.last, !last.isEmpty else { throw Unreadable("not four segments") }
        return String(last)
    }

    private func thirdSegment(_ location: String) throws -> String {
        let segments = try segments(location)
        guard segments.count >= 3, !segments[2].isEmpty else { throw Unreadable("no third segment") }
        return String(segments[2])
    }

    private func between(_ start: String, and end: String, in text: String) throws -> String {
        guard let first = text.firstRange(of: start) else { throw Unreadable("'\(start)' is not in Location") }
        let rest = text[first.upperBound...]
        guard !end.isEmpty else { return String(rest) }
        guard let last = rest.firstRange(of: end) else { throw Unreadable("'\(end)' is not in Location") }
        return String(rest[..<last.lowerBound])
    }
}
