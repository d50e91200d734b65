import RichPushModel
import Testing

@testable import AppBackend

@Suite struct MediaTests {
    private static func ftyp(_ brand: String) -> [UInt8] { [0, 0, 0, 24] + Array("ftyp\(brand)".utf8) + [0, 0, 2, 0] }

    private static let known: [(MediaFormat, [UInt8])] = [
        (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0]),
        (.gif, Array("GIF89a".utf8)), (.webp, Array("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ".utf8)), (.heic, ftyp("heic")),
        (.mp3, Array("ID3".utf8) + [4, 0, 0]), (.mp3, [0xFF, 0xFB, 0x90, 0x00]), (.m4a, ftyp("M4A ")),
        (.wav, Array("RIFF\u{1}\u{1}\u{1}\u{1}WAVEfmt ".utf8)), (.aiff, Array("FORM\u{1}\u{1}\u{1}\u{1}AIFF".utf8)),
        (.caf, Array("caff".utf8) + [0, 1]), (.mp4, ftyp("isom")), (.quickTime, ftyp("qt  ")),
        (.mpeg, [0, 0, 1, 0xBA]), (.pdf, Array("%PDF-1.4".utf8)), (.plainText, Array("Grüße".utf8)),
        (.jpeg, [0xFF, 0xD8, 0xFF, 0xE1] + Array("<?xpacket begin=''?><x:xmpmeta><rdf:RDF/></x:xmpmeta>".utf8)),
    ]

    @Test("each format is known by its first bytes", arguments: known.indices)
    func formats(_ index: Int) {
        let (format, head) = Self.known[index]
        #expect(MediaSniffer.format(of: head) == format)
    }

    private static let refused: [[UInt8]] = [
        [], Array("<html><script>alert(1)</script>".utf8), Array("  \n<!DOCTYPE html>".utf8),
        Array("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>".utf8), Array("<?xml version='1.0'?><x/>".utf8),
        Array("\u{FEFF}<a/>".utf8), Array("#!/bin/sh\nrm -rf /".utf8), Array("%!PS-Adobe".utf8), Array("{\\rtf1".utf8),
        Array("GIF89a/*".utf8) + Array("*/=1;<SCRIPT>alert(1)</SCRIPT>".utf8),
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array("....<hTmL>".utf8),
        Array("plain words, then <iframe src=x>".utf8), Array("<?php system($_GET[0]);".utf8),
        [0x50, 0x4B, 0x03, 0x04], [0x1F, 0x8B, 0x08], [0x7F, 0x45, 0x4C, 0x46, 2, 1], Array("MZ".utf8) + [0x90, 0, 3],
        Array("%PDF-1.4 <script>".utf8), [0xC3, 0x28], Array("zero\u{0}byte".utf8), ftyp("evil"), [0xFF, 0xF1, 0x50, 0x80],
        Array("RIFF\u{1}\u{1}\u{1}\u{1}AVI ".utf8), [0x42, 0x4D, 0, 0],
    ]

    @Test("active content, polyglots, archives and programs are of no format", arguments: refused.indices)
    func active(_ index: Int) { #expect(MediaSniffer.format(of: Self.refused[index]) == nil) }

    @Test("a character that goes on beyond the window does not make text something else")
    func cutCharacter() {
        for shift in 0..<4 {
            let text = Array((String(repeating: "x", count: shift) + String(repeating: "😀", count: 2000)).utf8)
            #expect(MediaSniffer.format(of: Array(text.prefix(MediaSniffer.window))) == .plainText)
        }
        let cut = Array(("ä" + String(repeating: "x", count: 10)).utf8) + [0xC3]
        #expect(MediaSniffer.format(of: cut) == nil)
    }

    @Test("random bytes are never taken for text or a page")
    func random() {
        for seed in 1...250 {
            let bytes = (0..<300).map { UInt8(truncatingIfNeeded: ($0 &* 73 &+ seed) ^ 0x80) }
            for length in 1...300 where MediaSniffer.format(of: bytes.prefix(length) + [0])?.kind == .file {
                Issue.record("\(length) bytes from \(seed) on")
            }
        }
    }

    @Test(
        "a file name keeps no path, no control, no second ending, and ends as its content",
        arguments: [
            ("photo.png", "photo.png"), ("photo.PNG", "photo.png"), ("photo.html", "photo.png"), ("a.php.png", "a_php.png"),
            ("../../etc/passwd", "passwd.png"), ("C:\\x\\y.exe", "y.png"), ("a\r\nSet-Cookie: x.png", "a__Set-Cookie_ x.png"),
            ("\"quoted\".png", "quoted_.png"), ("\u{202E}gnp.exe", "gnp.png"), ("", nil), ("...", "content.png"),
            (".png", "png.png"), ("größe.png", "größe.png"), ("a/", "a.png"), ("a;b.png", "a_b.png"),
        ] as [(String, String?)])
    func names(_ given: String, _ cleaned: String?) {
        #expect(FileNameRule.clean(given, for: .png) == cleaned)
    }

    @Test("a long file name is cut")
    func longName() throws {
        let name = try #require(FileNameRule.clean(String(repeating: "n", count: 5000) + ".png", for: .png))
        #expect(name.count <= FileNameRule.maximumStem + 4)
        #expect(FileNameRule.clean(nil, for: .png) == nil)
    }

    @Test("a declared type must be what the bytes are, under any of its names")
    func declared() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let jpeg = Pictures.jpeg
        for type in [nil, "", "application/octet-stream", "image/jpeg", "Image/JPG; q=1"] {
            _ = try await test.store(jpeg, type: type, ann)
        }
        for type in ["image/png", "text/html", "image/svg+xml", "nonsense", "application/xhtml+xml"] {
            #expect(await code { _ = try await test.store(jpeg, type: type, ann) } == .unsupportedContent, "\(type)")
        }
        let sound = try await test.backend.storeContent(
            declaredType: "audio/mp4", fileName: nil, chunks: Chunks(Pictures.video()), for: ann)
        #expect(sound.content.mediaType == "audio/mp4")
    }

    @Test("an empty upload and one of forbidden bytes are refused before anything is written")
    func uploads() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await test.store([], ann) } == .unsupportedContent)
        for bytes in Self.refused where !bytes.isEmpty {
            #expect(await code { _ = try await test.store(bytes, name: "x.png", ann) } == .unsupportedContent)
        }
    }
}
