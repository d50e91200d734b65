/// What a list request asks for (Reference/AzureNotificationHubs.md#2-5): page size, where to go on, and which registrations.
public struct ListQuery: Hashable, Sendable {
    /// At most so many entries, 1 to the page limit.
    public var top: Int
    /// The token of the page before, as the client sent it back; check it with `ContinuationToken`.
    public var continuation: ContinuationToken?
    public var filter: RegistrationFilter?
    /// Entries to leave out at the front; one retired client sends it.
    public var skip: Int

    /// Creates a query.
    public init(
        top: Int = HubLimits().pageSize, continuation: ContinuationToken? = nil, filter: RegistrationFilter? = nil, skip: Int = 0
    ) {
        self.top = top
        self.continuation = continuation
        self.filter = filter
        self.skip = skip
    }

    /// Reads the query of a list. A `$top` above the limit is the limit.
    public init(_ parameters: HubQuery, limits: HubLimits = HubLimits()) throws(HubRequestFault) {
        top = min(try Self.number("$top", parameters) ?? limits.pageSize, limits.pageSize)
        if top < 1 { throw HubRequestFault(at: "$top", "a page has at least one entry") }
        skip = try Self.number("$skip", parameters) ?? 0
        // One spelling of the two that clients send: names compare without regard to case.
        if let text = parameters["continuationtoken"], !text.isEmpty {
            // One client escapes the token once more, which leaves it unchanged: it has no character that needs it.
            guard let token = ContinuationToken(text) else {
                throw HubRequestFault(at: "continuationtoken", "this server has not made the token")
            }
            continuation = token
        }
        if let text = parameters.filter {
            filter = try RegistrationFilter(text, limits: limits)
        }
    }

    /// The query as this product's client sends it, without the version.
    public var parameters: [HeaderField] {
        var result = [HeaderField("$top", String(top))]
        if let continuation { result.append(HeaderField("continuationtoken", continuation.text)) }
        if let filter { result.append(HeaderField("$filter", filter.text)) }
        return result
    }

    private static func number(_ name: String, _ parameters: HubQuery) throws(HubRequestFault) -> Int? {
        guard let text = parameters[name], !text.isEmpty else { return nil }
        guard text.utf8.count <= 10, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
            throw HubRequestFault(at: name, "a whole number is expected")
        }
        return number
    }
}
