import RichPushModel
import Testing
import WireText

@testable import ContentStorage

@Suite("The values of an S3 request")
struct S3ValuesTests {
    @Test("all but the unreserved characters are escaped, in upper case")
    func escaping() {
        #expect(PercentEncoding.encode("aZ09-_.~") == "aZ09-_.~")
        #expect(PercentEncoding.encode("a b/c+d=e&ü") == "a%20b%2Fc%2Bd%3De%26%C3%BC")
        #expect(PercentEncoding.encode("/a b/c", keepsSlashes: true) == "/a%20b/c")
    }

    @Test(
        "an endpoint is a scheme, a host and perhaps a port",
        arguments: [
            ("https://s3.eu-central-1.amazonaws.com", "https://s3.eu-central-1.amazonaws.com"),
            ("HTTPS://Store.Example.com:443/", "https://store.example.com"), ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
            ("http://[::1]:9000", "http://[::1]:9000"), ("http://minio:80", "http://minio"),
        ])
    func endpoints(text: String, read: String) throws { #expect(try #require(S3Endpoint(text)).description == read) }

    @Test(
        "anything else is no endpoint",
        arguments: [
            "", "store.example.com", "ftp://store.example.com", "https://", "https:///", "https://a/b", "https://a?b",
            "https://u@a",
            "https://a:0", "https://a:65536", "https://a:", "https://a:b", "https://[::1", "https://[x]", "https://[::1]9",
            "https://a b", "https://a\r\nHost: b", "https://ä", "https://.a", "https://-a",
        ])
    func notEndpoints(text: String) { #expect(S3Endpoint(text) == nil) }

    @Test("a bucket stands in the path or before the host")
    func addressing() throws {
        func location(_ addressing: S3Addressing, _ endpoint: String = "https://s3.example.com", prefix: String = "app") throws
            -> S3Location
        {
            S3Location(
                endpoint: try #require(S3Endpoint(endpoint)), region: "r", bucket: "box", prefix: prefix, addressing: addressing)
        }
        #expect(try location(.path).host == "s3.example.com")
        #expect(try location(.path).path("objects/1") == "/box/app/objects/1")
        #expect(try location(.path).path(nil) == "/box")
        #expect(try location(.virtualHost, "http://s3.example.com:9000").host == "box.s3.example.com:9000")
        #expect(try location(.virtualHost, prefix: "app/").path("objects/1") == "/app/objects/1")
        #expect(try location(.virtualHost, prefix: "").path("objects/1") == "/objects/1")
        #expect(try location(.virtualHost).path(nil) == "/")
    }

    @Test("names of buckets and beginnings of keys follow their rules")
    func names() {
        for good in ["abc", "my-bucket.2026", String(repeating: "a", count: 63)] { #expect(S3Location.isBucket(good)) }
        for bad in ["", "ab", "Abc", "a_b", "-ab", "ab.", "a..b", "a/b", "../..", String(repeating: "a", count: 64)] {
            #expect(!S3Location.isBucket(bad), "\(bad)")
        }
        for good in ["", "a", "a/", "a/b-C_9.x/"] { #expect(S3Location.isPrefix(good)) }
        for bad in ["/", "/a", "a//b", "..", "a/../b", "./a", "a b", "ü", "a%2F", "a\n", String(repeating: "a", count: 201)] {
            #expect(!S3Location.isPrefix(bad), "\(bad)")
        }
    }

    @Test("moments are written as they are signed and read as they are sent")
    func moments() {
        #expect(S3Moment.stamp(Timestamp(milliseconds: 0)) == "19700101T000000Z")
        #expect(S3Moment.stamp(Timestamp(seconds: 951_782_399)) == "20000228T235959Z")
        #expect(S3Moment.stamp(Timestamp(seconds: 951_868_799)) == "20000229T235959Z")
        #expect(S3Moment.stamp(Timestamp(seconds: 1_735_689_599)) == "20241231T235959Z")
        #expect(S3Moment.read(document: "2013-05-24T00:00:01.987Z") == Timestamp(seconds: 1_369_353_601))
        #expect(S3Moment.read(document: "2013-05-24T00:00:01Z") == Timestamp(seconds: 1_369_353_601))
        for bad in ["", "2013-05-24", "2013-13-24T00:00:01Z", "2013-05-24T00:00Z", "2013-05-24T00:00:01"] {
            #expect(S3Moment.read(document: bad) == nil)
        }
    }

    @Test("every day of the calendar comes back")
    func calendar() {
        for day in stride(from: Int64(0), to: 60_000, by: 1) {
            let moment = Timestamp(seconds: day * 86_400 + 3661)
            let stamp = Array(S3Moment.stamp(moment))
            let text = "\(String(stamp[0..<4]))-\(String(stamp[4..<6]))-\(String(stamp[6..<8]))T01:01:01Z"
            if S3Moment.read(document: text) != moment { Issue.record("day \(day) became \(text)") }
        }
    }

    @Test("a document is read with prefixes, entities and blanks")
    func document() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <s3:List xmlns:s3="http://s3.example/" x='1'>
              <Name>a&amp;b&#60;&#x63;&quot;</Name><Empty/><Row><Key>1</Key></Row><Row><Key>2</Key></Row>
            </s3:List>

            """
        let document = try #require(S3Document(Array(text.utf8)))
        #expect(document.name == "List")
        #expect(document["Name"] == "a&b<c\"")
        #expect(document["Empty"]?.isEmpty == true && document["Missing"] == nil)
        #expect(document.all("Row").map { $0["Key"] } == ["1", "2"])
    }

    @Test(
        "what is no document is refused",
        arguments: [
            "", "a", "<a>", "<a></b>", "<a><b></a></b>", "<a>&nope;</a>", "<a>&#xD800;</a>", "<a/><b/>", "<a", "<a></a", "<?xml",
            "<>x</>",
            "<!DOCTYPE a><a/>", String(repeating: "<a>", count: 100_000),
        ])
    func notDocument(text: String) { #expect(S3Document(Array(text.utf8)) == nil) }

    @Test("a repetition is decided by the fault, the time that is left and how many there were")
    func retries() {
        var plan = S3RetryPlan()
        let slow = S3Fault.refused(status: 503, code: "SlowDown", retryAfter: nil)
        for pause in [100, 200, 400, 800] {
            #expect(plan.decide(slow, left: .seconds(60), jitter: 1) == .retry(after: .milliseconds(pause)))
        }
        #expect(plan.decide(slow, left: .seconds(60), jitter: 1) == .finish)
        func first(_ fault: S3Fault, left: Duration = .seconds(60), jitter: Double = 0) -> S3RetryPlan.Decision {
            var plan = S3RetryPlan()
            return plan.decide(fault, left: left, jitter: jitter)
        }
        for fault in [
            S3Fault.broken, .timedOut, .unreachable("x"), .malformed("x"), .refused(status: 500, code: nil, retryAfter: nil),
        ] {
            #expect(first(fault) == .retry(after: .milliseconds(50)), "\(fault)")
        }
        #expect(first(.refused(status: 400, code: "RequestTimeout", retryAfter: nil)) == .retry(after: .milliseconds(50)))
        for status in [301, 400, 403, 404, 412, 416, 501] {
            #expect(first(.refused(status: status, code: "AccessDenied", retryAfter: nil)) == .finish)
        }
        #expect(first(.busy) == .finish)
        #expect(first(.refused(status: 503, code: nil, retryAfter: 2)) == .retry(after: .seconds(2)))
        #expect(first(.refused(status: 503, code: nil, retryAfter: 6)) == .finish)
        #expect(first(.broken, left: .milliseconds(50)) == .finish)
    }

    @Test("a fault says what to look at, and becomes an error that can be tried again")
    func faults() {
        for (code, word) in [
            ("NoSuchBucket", "s3-bucket"), ("InvalidAccessKeyId", "s3-key-id"), ("SignatureDoesNotMatch", "s3-secret"),
            ("AccessDenied", "policy"), ("AccessDenied", "s3-secret"), ("PermanentRedirect", "s3-region"),
            ("ExpiredToken", "s3-session-token"),
            ("RequestTimeTooSkewed", "clock"),
        ] {
            let fault = S3Fault.refused(status: 403, code: code, retryAfter: nil)
            #expect(fault.sentence.contains(word))
            #expect(fault.sentence.contains(code))
            #expect(fault.serviceError.code == .storageUnavailable)
            #expect(fault.serviceError.retryAfter == 30)
        }
        #expect(S3Fault.timedOut.serviceError.retryAfter == 5)
        #expect(S3Fault.busy.serviceError.code == .overloaded)
        #expect(S3Fault.refused(status: 503, code: nil, retryAfter: 9999).serviceError.retryAfter == 60)
    }
}
