import Foundation
import NIOCore
import ServiceEmulation
import Testing

@Suite("Why a local service cannot listen")
struct ListenCauseTests {
    @Test("the causes that a person can do something about are said in words")
    func words() {
        func text(_ code: Int32) -> String {
            ListenCause.text(of: IOError(errnoCode: code, reason: "bind(descriptor:ptr:bytes:)"))
        }
        #expect(text(EADDRINUSE) == "another program uses it")
        #expect(text(EACCES) == "this user may not listen there")
        #expect(text(EADDRNOTAVAIL) == "this machine has no such address")
        #expect(text(EMFILE) == "the system refused it (errno \(EMFILE))")
        #expect(!text(EMFILE).contains("bind("))
    }
}
