import ClarionTesting
import RichPushModel
import SharedAccess
import Testing

@Suite struct ContentTicketTests {
    private let clock = ManualClock()
    private let signer = ContentTicketSigner()

    private func ticket(lifetime: Duration = .seconds(300)) throws -> ContentTicket {
        ContentTicket(
            user: 7, notification: try #require(RichID(number: 12)), variant: "thumb", expiresAt: clock.now + lifetime,
            credentialVersion: 3)
    }

    @Test("a ticket says what it grants until it expires")
    func valid() throws {
        let text = signer.sign(try ticket(), now: clock.now)
        #expect(signer.verify(text, now: clock.now) == (try ticket()))
        clock.advance(by: .seconds(300))
        #expect(signer.verify(text, now: clock.now) == nil)
    }

    @Test("nodes with one master key accept each other's tickets, with clocks that differ a little; another master key does not")
    func nodes() throws {
        let key = MasterKey.random()
        let text = ContentTicketSigner(key).sign(try ticket(lifetime: .seconds(350)), now: clock.now + .seconds(50))
        #expect(ContentTicketSigner(key).verify(text, now: clock.now) != nil)
        #expect(ContentTicketSigner(key).verify(text, now: clock.now - .seconds(60)) == nil)
        #expect(ContentTicketSigner(.random()).verify(text, now: clock.now) == nil)
    }

    @Test("no ticket lives longer than five minutes")
    func capped() throws {
        let text = signer.sign(try ticket(lifetime: .seconds(86_400)), now: clock.now)
        #expect(signer.verify(text, now: clock.now)?.expiresAt == clock.now + .seconds(300))
    }

    @Test("a changed claim, a changed code or another key voids a ticket")
    func forged() throws {
        let text = signer.sign(try ticket(), now: clock.now)
        #expect(signer.verify(text.replacing("7.12.", with: "8.12."), now: clock.now) == nil)
        #expect(signer.verify(text.replacing("7.12.", with: "7.13."), now: clock.now) == nil)
        #expect(signer.verify(text.replacing("thumb", with: "original"), now: clock.now) == nil)
        #expect(ContentTicketSigner().verify(text, now: clock.now) == nil)
        #expect(signer.verify("", now: clock.now) == nil)
        #expect(signer.verify("a.b.c.d.e", now: clock.now) == nil)
        #expect(signer.verify(String(repeating: "a.", count: 10_000), now: clock.now) == nil)
    }

    @Test("a random change of one character voids a ticket")
    func mutated() throws {
        var generator = SeededGenerator()
        let characters = Array(signer.sign(try ticket(), now: clock.now))
        for _ in 0..<500 {
            var changed = characters
            let index = Int.random(in: changed.indices, using: &generator)
            guard let other = "abcXYZ019-_.".randomElement(using: &generator), other != changed[index] else { continue }
            changed[index] = other
            #expect(signer.verify(String(changed), now: clock.now) == nil, "seed \(generator.seed)")
        }
    }

    @Test("a shared key of less than 32 bytes is refused, and keys are never printed")
    func keys() throws {
        #expect(ContentTicketSigner(key: Array(repeating: 1, count: 31)) == nil)
        let shared = try #require(ContentTicketSigner(key: Array(repeating: 1, count: 32)))
        #expect("\(shared)" == "ticket signer (key not shown)")
    }
}
