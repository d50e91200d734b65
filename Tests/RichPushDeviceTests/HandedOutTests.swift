import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("A content that is handed to a player or to another app")
struct HandedOutTests {
    let device: TestDevice
    let pdf = Data("%PDF-1.7 words".utf8)

    init() throws { device = try TestDevice() }

    private func store(_ number: Int32, named name: String?) {
        device.backend.store(number, kind: .file, bytes: pdf, mediaType: "application/pdf")
        device.backend.state.with { $0.stored[id(number)]?.entry.content?.fileName = name }
    }

    @Test("has the sender's name, the ending of its type and the same bytes, each time it is opened")
    func opened() async throws {
        let engine = try await device.signedIn()
        store(7, named: "menu.pdf")
        store(8, named: nil)
        for _ in 0..<2 {
            let file = try #require(await engine.open(id(7)).content?.file)
            #expect(file.lastPathComponent == "menu.pdf")
            #expect(try Data(contentsOf: file) == pdf)
        }
        #expect(await engine.open(id(8)).content?.file.lastPathComponent == "content.pdf")
    }

    @Test(
        "has no name that is a path, that hides, or that says it is something else",
        arguments: [
            ("../../etc/passwd", "_.._etc_passwd.pdf"), ("/menu.pdf", "_menu.pdf"), ("a\\b:c.pdf", "a_b_c.pdf"),
            (".hidden.pdf", "hidden.pdf"), ("menu.exe", "menu.exe.pdf"), ("menu.png", "menu.png.pdf"),
            ("MENU.PDF", "MENU.PDF"), ("..", "content.pdf"), ("", "content.pdf"), (" \u{0} ", "content.pdf"),
            ("fdp\u{202E}exe.pdf", "fdp_exe.pdf"), ("Spår på ön.pdf", "Spår på ön.pdf"), ("菜单", "菜单.pdf"),
        ])
    func names(name: String, cleaned: String) {
        #expect(DisplayFileName.cleaned(name, mediaType: "application/pdf") == cleaned)
    }

    @Test("has a name that fits a file system, however long the sender's is")
    func long() {
        let name = DisplayFileName.cleaned(String(repeating: "å", count: 5_000) + ".pdf", mediaType: "application/pdf")
        #expect(name.utf8.count <= 130)
        #expect(name.hasSuffix("å.pdf"))
        #expect(DisplayFileName.cleaned("x.jpeg", mediaType: "image/jpeg") == "x.jpeg")
        #expect(DisplayFileName.cleaned("x", mediaType: "image/jpeg") == "x.jpg")
        #expect(DisplayFileName.cleaned("x.pdf", mediaType: "unheard/of") == "x.pdf.bin")
    }

    @Test("leaves the device when its content does, and is not made any more after a sign-out")
    func gone() async throws {
        let engine = try await device.signedIn()
        let session = try #require(await engine.session)
        let entry = device.backend.store(7, kind: .file, bytes: pdf, mediaType: "application/pdf")
        let content = try #require(await engine.open(id(7)).content)
        #expect(FileAccess.exists(content.file))
        let key = ContentKey(id(7), sha256: try #require(entry.content).sha256, of: session.id)
        let cached = try #require(try device.ports().cache.content(key, now: device.clock.now))
        try device.ports().cache.remove(key)
        #expect(!FileAccess.exists(content.file))
        #expect(!FileAccess.exists(cached.file))
        try await engine.signOut()
        #expect(throws: StorageError.sessionEnded) {
            try device.ports().cache.handedOut(cached, named: "menu.pdf", of: session.id)
        }
        #expect(device.files.isEmpty)
    }
}
