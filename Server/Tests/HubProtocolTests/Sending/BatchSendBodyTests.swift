import HubProtocol
import Testing

@Suite("Direct batches")
struct BatchSendBodyTests {
    private let canonical = """
        --nh-batch-multipart-boundary\r
        Content-Type: application/json; charset=utf-8\r
        Content-Disposition: inline; name=notification\r
        \r
        {"aps":{"alert":"Hello"}}\r
        --nh-batch-multipart-boundary\r
        Content-Type: application/json; charset=utf-8\r
        Content-Disposition: inline; name=devices\r
        \r
        ["0A1B","2C3D"]\r
        --nh-batch-multipart-boundary--\r

        """
    private let type = "multipart/mixed; boundary=\"nh-batch-multipart-boundary\""
    private let expected = BatchSendBody(
        notification: Array(#"{"aps":{"alert":"Hello"}}"#.utf8), contentType: "application/json; charset=utf-8",
        handles: ["0A1B", "2C3D"])

    private func fault(_ type: String?, _ body: String, limits: HubLimits = HubLimits()) -> HubRequestFault? {
        do {
            _ = try BatchSendBody(contentType: type, body: body.utf8, limits: limits)
            return nil
        } catch { return error }
    }

    @Test("the documented body is read, and the client writes the same to the byte")
    func example() throws {
        let body = try BatchSendBody(contentType: type, body: canonical.utf8)
        #expect(body == expected)
        #expect(String(decoding: body.encoded, as: UTF8.self) == canonical)
        #expect(BatchSendBody.requestContentType == type)
    }

    @Test(
        "the boundary is found however the header is written",
        arguments: [
            "multipart/mixed; boundary = \"nh-batch-multipart-boundary\"", "multipart/mixed;boundary=nh-batch-multipart-boundary",
            "Multipart/Mixed; charset=utf-8; Boundary=\"nh-batch-multipart-boundary\"; x=y",
            "multipart/form-data; boundary=nh-batch-multipart-boundary",
        ])
    func boundaries(_ type: String) throws { #expect(try BatchSendBody(contentType: type, body: canonical.utf8) == expected) }

    @Test("a closing delimiter may lack its line end, or be missing altogether")
    func endings() throws {
        let withoutLineEnd = String(canonical.dropLast(1))
        #expect(withoutLineEnd.hasSuffix("--"))
        #expect(try BatchSendBody(contentType: type, body: withoutLineEnd.utf8) == expected)
        let unclosed = canonical.replacing("\r\n--nh-batch-multipart-boundary--\r\n", with: "")
        #expect(unclosed.hasSuffix("\"2C3D\"]"))
        #expect(try BatchSendBody(contentType: type, body: unclosed.utf8) == expected)
        #expect(try BatchSendBody(contentType: type, body: (unclosed + "\r\n").utf8) == expected)
    }

    @Test("lines may end in LF, headers may be written in any case and order, text around the parts does not count")
    func looseness() throws {
        #expect(try BatchSendBody(contentType: type, body: canonical.replacing("\r\n", with: "\n").utf8) == expected)
        let other = canonical.replacing("Content-Type: ", with: "Content-type: ")
            .replacing("inline; name=notification", with: "form-data; name=\"notification\"")
        #expect(try BatchSendBody(contentType: type, body: ("preamble\r\n" + other + "epilogue").utf8) == expected)
    }

    @Test("the notification's bytes are untouched, even if they look like lines")
    func bytes() throws {
        let content: [UInt8] = [0x0D, 0x0A, 0xFF, 0x00, 0x2D, 0x2D, 0x0D, 0x0A]
        let body = BatchSendBody(notification: content, contentType: "application/octet-stream", handles: ["a"])
        #expect(try BatchSendBody(contentType: BatchSendBody.requestContentType, body: body.encoded) == body)
    }

    @Test("what is missing or wrong is named")
    func faults() {
        #expect(fault(nil, canonical)?.place == "Content-Type")
        #expect(fault("application/json", canonical)?.reason == "multipart/mixed with a boundary is expected")
        #expect(fault("multipart/mixed", canonical)?.reason == "the boundary is missing or too long")
        #expect(fault("multipart/mixed; boundary=other", canonical)?.reason == "there is no part named notification")
        #expect(fault(type, canonical.replacing("name=devices", with: "name=d"))?.reason == "there is no part named devices")
        #expect(
            fault(type, canonical.replacing("name=devices", with: "name=notification"))?.reason == "two parts have the same name")
        #expect(
            fault(type, canonical.replacing("[\"0A1B\",\"2C3D\"]", with: "{}"))?.description
                == "devices: a JSON array of texts is expected")
        #expect(fault(type, canonical.replacing("[\"0A1B\",", with: "[7,"))?.place == "devices[0]")
        #expect(fault(type, canonical.replacing("\"2C3D\"", with: "null"))?.place == "devices[1]")
        #expect(fault(type, canonical.replacing("\"2C3D\"", with: "\"\"")) == nil)
        #expect(fault(type, canonical.replacing("\"2C3D\"]", with: "\"2C3D\""))?.place == "devices, byte 15")
        #expect(fault(type, canonical.replacing("[\"0A1B\",\"2C3D\"]", with: "[]"))?.reason == "a batch has 1 to 1000 handles")
        #expect(
            fault(type, canonical.replacing(#"{"aps":{"alert":"Hello"}}"#, with: ""))?.description == "notification: it is empty")
    }

    @Test("the notification has at most 64 KiB, the handles are at most 1,000")
    func bounds() throws {
        let large = BatchSendBody(notification: Array(repeating: 0x20, count: 64 * 1024 + 1), handles: ["a"])
        let text = String(decoding: large.encoded, as: UTF8.self)
        #expect(fault(type, text)?.kind == .tooLarge)
        #expect(fault(type, text)?.place == "notification")
        let handles = { (count: Int) in
            BatchSendBody(notification: Array("{}".utf8), handles: (0..<count).map { "h\($0)" })
        }
        #expect(try BatchSendBody(contentType: type, body: handles(1000).encoded).handles.count == 1000)
        #expect(fault(type, String(decoding: handles(1001).encoded, as: UTF8.self))?.place == "devices")
        var limits = HubLimits()
        (limits.notificationBytes, limits.batchHandles, limits.handleBytes) = (10, 1, 100)
        #expect(fault(type, canonical, limits: limits)?.kind == .tooLarge)
    }
}
