import APNsProtocol
import Testing

@Suite("The headers of a push")
struct APNsPushHeadersTests {
    private let headers = APNsPush.Headers(
        topic: "com.example.app", pushType: .alert, priority: 10, expiration: 7, collapseID: "one")

    @Test("what is changed in one copy stays as it was in the others")
    func copiesAreValues() {
        var copy = headers
        copy.topic = "com.example.other"
        copy.pushType = .background
        copy.priority = nil
        copy.expiration = nil
        copy.collapseID = nil
        #expect(headers.topic == "com.example.app")
        #expect(headers.pushType == .alert)
        #expect(headers.priority == 10)
        #expect(headers.expiration == 7)
        #expect(headers.collapseID == "one")
        #expect(copy == APNsPush.Headers(topic: "com.example.other", pushType: .background))
    }

    @Test("each field counts for equality, wherever the two were made")
    func equality() {
        let same = APNsPush.Headers(
            topic: "com.example.app", pushType: .alert, priority: 10, expiration: 7, collapseID: "one")
        #expect(same == headers)
        #expect(same.hashValue == headers.hashValue)
        #expect(!same.isCopy(of: headers))
        let copy = headers
        #expect(copy.isCopy(of: headers))
        let changes: [(inout APNsPush.Headers) -> Void] = [
            { $0.topic = "com.example" }, { $0.pushType = .voip }, { $0.priority = 5 }, { $0.expiration = 8 },
            { $0.collapseID = "two" },
        ]
        for (index, change) in changes.enumerated() {
            var other = headers
            change(&other)
            #expect(other != headers, "field \(index)")
        }
    }
}
