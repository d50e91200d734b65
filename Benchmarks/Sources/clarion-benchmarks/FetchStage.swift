import Foundation

/// The built program with people, phones and two pictures, and nginx with the same two: both over TLS with the same certificate, on
/// core 0.
final class FetchStage {
    static let password = "correct horse battery"
    private static let people = 100
    private static let phonesOfEach = 10

    let clarion: ServerProcess
    let port: UInt16
    let nginx: ServerProcess
    let nginxPort: UInt16
    /// The requests, by what they are for.
    let folder: URL

    private let load: String
    /// Without TLS, for the command that sends.
    private let plainPort: UInt16

    /// `load` is `fetch-load`.
    init(program: String, load: String, folder: URL) throws {
        self.load = load
        self.folder = folder
        port = try LoopbackSocket.freePort()
        plainPort = try LoopbackSocket.freePort()
        nginxPort = try LoopbackSocket.freePort()
        let site = folder.appending(path: "site")
        try FileManager.default.createDirectory(at: site, withIntermediateDirectories: true)
        try Self.picture(102_400).write(to: site.appending(path: "picture.png"))
        try Self.picture(10_240).write(to: site.appending(path: "thumb.png"))
        let (certificate, key) = (folder.appending(path: "certificate.pem").path, folder.appending(path: "key.pem").path)
        _ = try CommandRun.client([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-keyout", key, "-out", certificate,
        ])
        nginx = try Self.nginx(nginxPort, certificate, key, site, folder)
        do {
            clarion = try Self.clarion(program, port, plainPort, certificate, key, folder)
        } catch {
            nginx.stop()
            throw error
        }
        do {
            try Self.waitUntilAnswering(clarion, port, folder)
            try prepare(program, site)
        } catch {
            stop()
            throw error
        }
    }

    func stop() {
        clarion.stop()
        nginx.stop()
    }

    private static func nginx(
        _ port: UInt16, _ certificate: String, _ key: String, _ site: URL, _ folder: URL
    ) throws -> ServerProcess {
        let configuration = folder.appending(path: "nginx.conf")
        let owner = getuid() == 0 ? "user root;" : ""
        try """
        \(owner) daemon off; master_process off; pid \(folder.path)/nginx.pid; error_log \(folder.path)/nginx.log;
        events { worker_connections 4096; }
        http {
            access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; types { image/png png; }
            ssl_protocols TLSv1.3;
            server {
                listen 127.0.0.1:\(port) ssl; ssl_certificate \(certificate); ssl_certificate_key \(key); root \(site.path);
            }
        }
        """.write(to: configuration, atomically: true, encoding: .utf8)
        let path = ["/usr/sbin/nginx", "/usr/local/bin/nginx"].first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path else { throw CommandRun.Fault("nginx is missing; scripts/install-dependencies bench installs it") }
        return try ServerProcess(
            program: "/usr/bin/env", arguments: CommandRun.pinned(to: 0, [path, "-c", configuration.path]))
    }

    private static func clarion(
        _ program: String, _ port: UInt16, _ plainPort: UInt16, _ certificate: String, _ key: String, _ folder: URL
    ) throws -> ServerProcess {
        let data = folder.appending(path: "data").path
        try CommandRun.begin(program, data: data)
        for number in 0...people {
            let role = number == 0 ? "sender" : "user"
            let words = [program, "user", "add", name(number), "--role", role, "--data-directory", data]
            _ = try CommandRun.client(words, input: password + "\n")
        }
        let arguments = [
            program, "serve", "--data-directory", data, "--listen-port", "\(plainPort)",
            "--tls-listen-port", "\(port)", "--tls-certificate-path", certificate, "--tls-key-path", key, "--log-level",
            "critical",
        ]
        return try ServerProcess(program: "/usr/bin/env", arguments: CommandRun.pinned(to: 0, arguments))
    }

    /// Signs the phones in, sends the pictures to all of them, and writes the requests down.
    private func prepare(_ program: String, _ site: URL) throws {
        let phones = (0..<Self.people * Self.phonesOfEach).map { number in
            let handle = String(format: "%064X", number + 1)
            return Self.request(
                "PUT", "/api/v1/installations/phone-\(number)", Self.basic(Self.name(1 + number / Self.phonesOfEach)),
                json: #"{"platform":"apns","handle":"\#(handle)","tags":["all"]}"#)
        }
        try write(phones, "install")
        let answers = try CommandRun.client(
            [load, "\(port)", "16", "\(phones.count)", "120", path("install"), "bodies"], core: 1)
        let credentials = answers.output.matches(of: #/"credential":"([^"]+)"/#).map { String($0.1) }
        guard credentials.count == phones.count else {
            throw CommandRun.Fault("only \(credentials.count) phones signed in: \(answers.output.prefix(300))")
        }
        for (index, file) in ["picture", "thumb"].enumerated() {
            let run = try CommandRun.client(
                [
                    program, "send", "--server", "http://127.0.0.1:\(plainPort)", "--message", file, "--audience", "all",
                    "--picture",
                    site.appending(path: file + ".png").path,
                ],
                core: 1,
                environment: ["CLARION_USER": Self.name(0), "CLARION_PASSWORD": Self.password])
            guard run.output.contains("\(index + 1)") else { throw CommandRun.Fault("the send was answered \(run.output)") }
        }
        try writeFetches(credentials)
    }

    private func writeFetches(_ credentials: [String]) throws {
        let thumb = "/api/v1/notifications/2?variant=thumb"
        let fetches = credentials.map { Self.request("GET", thumb, "Bearer " + $0) }
        try write([Self.request("GET", "/picture.png", nil)], "nginx")
        try write([Self.request("GET", "/api/v1/notifications/1", Self.basic(Self.name(0)))], "picture")
        try write(fetches, "thumbs")
        let words = #"{"message":"while it storms"}"#
        let send = Self.request("POST", "/api/v1/notifications", Self.basic(Self.name(0)), json: words)
        try write(Array(fetches.prefix(98)) + [Self.request("GET", "/livez", nil), send], "others")
        // Every 20th is a user who has not signed in before; the others are unknown names.
        let attempts = (0..<2_000).map { number in
            let name = number % 20 == 0 ? Self.name(1 + number / 20) : "unknown\(number)"
            return Self.request("GET", "/api/v1/me", Self.basic(name))
        }
        try write(attempts, "sign-ins")
    }

    func path(_ name: String) -> String { folder.appending(path: name + ".requests").path }

    private func write(_ requests: [String], _ name: String) throws {
        try requests.joined(separator: "\0").write(toFile: path(name), atomically: true, encoding: .utf8)
    }

    static func request(_ method: String, _ target: String, _ authorization: String?, json: String? = nil) -> String {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        if let authorization { text += "Authorization: \(authorization)\r\n" }
        if let json { text += "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n" }
        return text + "\r\n" + (json ?? "")
    }

    static func basic(_ name: String) -> String {
        "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
    }

    private static func name(_ number: Int) -> String { number == 0 ? "sender" : "person\(number)" }

    /// A PNG of `count` bytes in which the pixels are noise: neither server decodes it, and Clarion looks at the chunks.
    static func picture(_ count: Int) -> Data {
        func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
            let length = withUnsafeBytes(of: UInt32(data.count).bigEndian) { Array($0) }
            return length + Array(name.utf8) + data + [0, 0, 0, 0]
        }
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header = chunk("IHDR", [0, 0, 0, 64, 0, 0, 0, 64, 8, 2, 0, 0, 0])
        let noise = (0..<count - start.count - header.count - 24).map { _ in UInt8.random(in: 0...255) }
        return Data(start + header + chunk("IDAT", noise) + chunk("IEND", []))
    }

    private static func waitUntilAnswering(_ server: ServerProcess, _ port: UInt16, _ folder: URL) throws {
        for _ in 0..<500 where server.isRunning {
            let address = "https://localhost:\(port)/readyz"
            let words = ["curl", "-sk", "-o", folder.appending(path: "readyz").path, "-w", "%{http_code}", address]
            if (try? CommandRun.client(words))?.output == "200" { return }
            usleep(20_000)
        }
        throw CommandRun.Fault("the server does not answer")
    }
}
