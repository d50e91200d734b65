import HubProtocol

/// A list of registrations of a hub elsewhere, in pages that are asked for as they are needed.
public struct RemoteRegistrations: AsyncSequence, Sendable {
    public typealias Element = RegistrationDescription

    let hub: RemoteHub
    let path: [String]
    var filter: RegistrationFilter?
    let pageSize: Int

    public func makeAsyncIterator() -> Iterator { Iterator(list: self) }

    /// Reads the list. Throws `RemoteHubError`.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let list: RemoteRegistrations
        private var page: [RegistrationDescription] = []
        private var position = 0
        private var token: String?
        private var isAtEnd = false

        fileprivate init(list: RemoteRegistrations) { self.list = list }

        public mutating func next() async throws -> RegistrationDescription? {
            // A page may be empty and still not be the last.
            while position == page.count {
                if isAtEnd { return nil }
                (page, token) = try await list.page(after: token)
                position = 0
                isAtEnd = token == nil
            }
            position += 1
            return page[position - 1]
        }
    }

    /// One page and the token of the next; the token is the hub's own and is handed back as it came.
    private func page(after token: String?) async throws -> ([RegistrationDescription], String?) {
        var query = ListQuery(top: Swift.max(1, pageSize), filter: filter).parameters
        if let token { query.append(HeaderField("continuationtoken", token)) }
        let answer = try await hub.answer(to: RemoteCall(method: "GET", path: path, query: query, expected: [200, 404]))
        guard answer.status == 200 else { return ([], nil) }
        let next = answer.headers[ContinuationToken.headerName].flatMap { $0.isEmpty ? nil : $0 }
        // A hub that answers the same token for ever would never let the list end.
        guard next == nil || next != token else { throw AnswerReading.unreadable("new continuation token") }
        do { return (try RegistrationDescription.read(feed: answer.body), next) } catch {
            throw AnswerReading.unreadable("list of registrations")
        }
    }
}
