import ClarionTesting
import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Damaged documents")
struct ReaderFuzzTests {
    private static let documents: [String] = [
        Samples.canonicalEntry, Samples.typedEntry, RegistrationLines.line(Samples.canonical),
        NotificationDetails(
            id: "x", state: .completed, enqueueTime: Samples.morning,
            outcomes: [OutcomeCounts(.apns, [.init(name: "a", count: 1)])]
        ).answer(),
        NotificationOutcome(
            success: 1, failure: 0, results: [.init(platform: "a", handle: "b", registrationID: "c", outcome: "d")]
        )
        .answer(),
        PnsFeedback(time: Samples.morning, systemError: "a", platform: "b", handle: "c", owner: .registration("d")).document(),
        HubJobDocument(.importCreateRegistrations, outputContainer: "c", importFile: "f").request(),
        "<entry xmlns='http://www.w3.org/2005/Atom'><title>t</title><content>"
            + Samples.description("NotificationHubDescription", "<RegistrationTtl>P1D</RegistrationTtl>") + "</content></entry>",
        ErrorBody(code: 404, detail: "SubCode=1. x", trackingID: "y", at: Samples.morning).answer(),
    ]

    @Test("10,000 damaged documents are read or refused by every reader, and never more")
    func damaged() {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        var refused = 0
        for round in 0..<10_000 {
            let bytes = Mutation.mutated(Array(Self.documents[round % Self.documents.count].utf8), &generator)
            do throws(HubDocumentError) {
                switch round % Self.documents.count {
                case 0, 1: _ = try RegistrationDescription.read(entry: bytes)
                case 2 where round.isMultiple(of: 2): _ = try RegistrationLines.readID(bytes)
                case 2: _ = try RegistrationLines.read(bytes)
                case 3: _ = try NotificationDetails.read(bytes)
                case 4: _ = try NotificationOutcome.read(bytes)
                case 5: _ = try PnsFeedback.read(bytes)
                case 6: _ = try HubJobDocument.read(entry: bytes)
                case 7: _ = try HubDescription.read(answer: bytes)
                default: _ = ErrorBody.read(bytes).map { ($0.sentence, $0.trackingID, $0.subCode) }
                }
            } catch {
                refused += 1
                #expect(error.description.utf8.count < 1000, "seed \(generator.seed), round \(round)")
            }
        }
        #expect(refused > 1000)
        #expect(refused < 10_000)
    }
}
