import Testing

@testable import ServerSettings

@Suite("The word that was probably meant")
struct SpellingTests {
    @Test("the command that was probably meant is the nearest name, and a word that is far from all has none")
    func spelling() {
        let commands = ["send", "serve", "status", "user", "hub"]
        #expect(Spelling.nearest(to: "sned", among: commands) == "send")
        #expect(Spelling.nearest(to: "statsu", among: commands) == "status")
        #expect(Spelling.nearest(to: "bogusword", among: commands) == nil)
    }
}
