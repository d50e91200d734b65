import AppBackend
import Foundation
import RichPushModel
import Testing

@testable import BackendHTTPAPI

@Suite("The routes of Live Activities")
struct ActivityRouteTests {
    /// A bench on which a sender has started an activity with a moment and a relevance.
    private func started() async throws -> (bench: BackendBench, moment: Timestamp) {
        var settings = BackendSettings()
        // A hub of this server knows the tokens of activities.
        settings.webPush = WebPushTerms(publicKey: String(repeating: "B", count: 87))
        let bench = try await BackendBench(settings: settings)
        let moment = bench.clock.now + .seconds(600)
        let answer = try await bench.json(
            .post, "/api/v1/activities", as: "sam",
            """
            {"attributesType":"Trip","state":{"gate":"A1"},"audience":"username:sam","start":"app",
            "staleAt":\(moment.milliseconds),"relevance":80}
            """)
        #expect(answer.status == .created, "\(answer.text)")
        return (bench, moment)
    }

    @Test("a field that is absent from a change stays as it was, and null removes it")
    func patch() async throws {
        let (bench, moment) = try await started()
        func staleAt(after body: String) async throws -> Timestamp? {
            let answer = try await bench.json(.patch, "/api/v1/activities/1", as: "sam", body)
            #expect(answer.status == .ok, "\(answer.text)")
            return try answer.decoded(ActivityStatus.self).staleAt
        }
        #expect(try await staleAt(after: #"{"relevance":20}"#) == moment)
        #expect(try await staleAt(after: #"{"state":{"gate":"B2"}}"#) == moment)
        #expect(try await staleAt(after: #"{"relevance":null}"#) == moment)
        #expect(try await staleAt(after: #"{"staleAt":null}"#) == nil)
        let shown = try await bench.call(.get, "/api/v1/activities/1", as: "sam").decoded(ActivityStatus.self)
        #expect(shown.revision == 5)
        #expect(shown.state == .object(["gate": .text("B2")]))
    }

    @Test("null for what no change can remove counts as absent", arguments: ["state", "alert", "priority", "end", "dismissAt"])
    func nullOfOthers(field: String) async throws {
        let (bench, moment) = try await started()
        let alone = try await bench.json(.patch, "/api/v1/activities/1", as: "sam", "{\"\(field)\":null}")
        #expect(alone.status == .badRequest)
        #expect(alone.detail?.hasPrefix("the body: it must have a state") == true, "\(alone.text)")
        let beside = try await bench.json(.patch, "/api/v1/activities/1", as: "sam", "{\"\(field)\":null,\"relevance\":1}")
        let status = try beside.decoded(ActivityStatus.self)
        #expect(status.staleAt == moment && status.state == .object(["gate": .text("A1")]))
    }

    @Test("a number in a path has one form", arguments: ["01", "+1", "-1", "1.0", "0", "9223372036854775808"])
    func number(text: String) async throws {
        let (bench, _) = try await started()
        #expect(try await bench.call(.get, "/api/v1/activities/1", as: "sam").status == .ok)
        let answer = try await bench.call(.get, "/api/v1/activities/\(text)", as: "sam")
        #expect(answer.status == .notFound, "\(answer.text)")
    }
}
