import Foundation

/// `clarion-benchmarks serve PROGRAM [ROUNDS]` measures the built program, prints a table and ends with 1 when a limit is missed.
/// `clarion-benchmarks hub PROGRAM LOAD PAGES [ROUNDS]` measures the hub: upserts through HTTP, and the pages of an audience.
/// `clarion-benchmarks broadcast PROGRAM LOAD SINK PAGES [ROUNDS]` measures sends to a million devices on both engines.
/// `clarion-benchmarks mixed PROGRAM SINK PAGES [ROUNDS [DEVICES]]` measures a send to a million devices of three platforms.
/// `clarion-benchmarks return PROGRAM SINK [ROUNDS [SECONDS]]` measures how soon sending goes on when APNs was away for some seconds.
/// `clarion-benchmarks fetch PROGRAM LOAD [ROUNDS]` measures fetches of contents beside nginx, and storms of them and of sign-ins.
/// `clarion-benchmarks access COSTS SINK [ROUNDS]` measures what credentials, the audit and a push for a browser cost.
/// `clarion-benchmarks fcm LOAD SINK [ROUNDS]` measures the transport of FCM beside h2load.
/// `clarion-benchmarks phone PROGRAM [ROUNDS]` measures a simulated phone with real processes.
/// `clarion-benchmarks soak PROGRAM LOAD SINK CURVE HOURS` keeps a node under mixed load with faults, and writes its curve.
/// `clarion-benchmarks peers SINK PUSHES NAME=COMMAND…` measures clients of APNs of several makers with the same pushes.
/// `clarion-benchmarks apns LOAD SINK JSON [ROUNDS]` measures the APNs client beside h2load, prints tables and writes JSON; ends
/// with 1 when its memory grows.
@main
enum ClarionBenchmarks {
    static func main() {
        do {
            try measure(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("clarion-benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func measure(_ words: [String]) throws {
        switch (words.first, words.count) {
        case ("serve", 2...3): try serve(words)
        case ("hub", 4...5): try hub(words)
        case ("phone", 2...3): try phone(words)
        case ("access", 3...4): if try !access(words) { exit(1) }
        case ("fcm", 3...4): if try !fcm(words) { exit(1) }
        case ("fetch", 3...4): if try !fetch(words) { exit(1) }
        case ("broadcast", 5...6): if try !broadcast(words) { exit(1) }
        case ("mixed", 4...6): if try !mixed(words) { exit(1) }
        case ("return", 3...5): if try !comeBack(words) { exit(1) }
        case ("peers", 4...): try peers(words)
        case ("soak", 6): if try !soak(words) { exit(1) }
        case ("apns", 4...5): if try !apns(words) { exit(1) }
        default:
            print(
                """
                usage: clarion-benchmarks serve|phone PROGRAM [ROUNDS] | access COSTS SINK [ROUNDS]
                                        | hub PROGRAM LOAD PAGES [ROUNDS] | fetch PROGRAM LOAD [ROUNDS]
                                        | broadcast PROGRAM LOAD SINK PAGES [ROUNDS] | return PROGRAM SINK [ROUNDS [SECONDS]]
                                        | soak PROGRAM LOAD SINK CURVE HOURS | apns LOAD SINK JSON [ROUNDS]
                                        | fcm LOAD SINK [ROUNDS] | mixed PROGRAM SINK PAGES [ROUNDS [DEVICES]]
                                        | peers SINK PUSHES NAME=COMMAND…
                """
            )
            exit(64)
        }
    }

    private static func serve(_ words: [String]) throws {
        let rounds = words.dropFirst(2).first.flatMap(Int.init) ?? 5
        let results = try ServeBenchmark(program: words[1], rounds: max(1, rounds)).run()
        for line in Measurement.table(results) { print(line) }
        if results.contains(where: { !$0.isWithinLimit }) { exit(1) }
    }

    private static func phone(_ words: [String]) throws {
        let rounds = words.dropFirst(2).first.flatMap(Int.init) ?? 7
        let results = try PhoneBenchmark(program: words[1], rounds: max(1, rounds)).run()
        for line in Measurement.table(results) { print(line) }
        if results.contains(where: { !$0.isWithinLimit }) { exit(1) }
    }

    private static func access(_ words: [String]) throws -> Bool {
        let rounds = max(1, words.dropFirst(3).first.flatMap(Int.init) ?? 5)
        return try keepsLimits { folder in
            try AccessBenchmark(costs: words[1], sink: words[2], rounds: rounds, folder: folder).run()
        }
    }

    private static func hub(_ words: [String]) throws {
        let rounds = max(1, words.dropFirst(4).first.flatMap(Int.init) ?? 3)
        for line in Measurement.table(try HubBenchmark(program: words[1], load: words[2], rounds: rounds).run()) { print(line) }
        // It prints its own table, a line as soon as it is known.
        print(try CommandRun.client([words[3], "1000000", "\(rounds)"]).output)
        try pages(onPostgreSQLBy: words[3], rounds: rounds)
    }

    /// The pages of an audience on a PostgreSQL server half a millisecond away.
    private static func pages(onPostgreSQLBy program: String, rounds: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try ThrowAwayDatabase(folder: folder.appending(path: "postgresql"))
        defer { database.stop() }
        print(try CommandRun.client([program, "200000", "\(rounds)", database.url, "500"]).output)
    }

    /// Prints what is measured in a folder that is gone by then. Returns whether every limit is kept.
    private static func keepsLimits(_ measure: (URL) throws -> [Measurement]) throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let results = try measure(folder)
        for line in Measurement.table(results) { print(line) }
        return results.allSatisfy(\.isWithinLimit)
    }

    private static func fetch(_ words: [String]) throws -> Bool {
        let rounds = max(1, words.dropFirst(3).first.flatMap(Int.init) ?? 3)
        return try keepsLimits { folder in
            try FetchBenchmark(program: words[1], load: words[2], rounds: rounds, folder: folder).run()
        }
    }

    private static func broadcast(_ words: [String]) throws -> Bool {
        let rounds = max(1, words.dropFirst(5).first.flatMap(Int.init) ?? 3)
        return try keepsLimits { folder in
            try BroadcastBenchmark(
                program: words[1], load: words[2], sink: words[3], filler: words[4], rounds: rounds, folder: folder
            ).run()
        }
    }

    private static func mixed(_ words: [String]) throws -> Bool {
        let numbers = words.dropFirst(4).compactMap { Int($0) }
        return try keepsLimits { folder in
            try MixedBenchmark(
                program: words[1], sink: words[2], filler: words[3], rounds: max(1, numbers.first ?? 3),
                devices: numbers.dropFirst().first ?? 1_000_000, folder: folder
            ).run()
        }
    }

    private static func comeBack(_ words: [String]) throws -> Bool {
        let numbers = words.dropFirst(3).compactMap { Int($0) }
        return try keepsLimits { folder in
            try ReturnBenchmark(
                program: words[1], sink: words[2], rounds: max(1, numbers.first ?? 10), absence: numbers.dropFirst().first ?? 30,
                folder: folder
            ).run()
        }
    }

    private static func peers(_ words: [String]) throws {
        guard let pushes = Int(words[2]), (1...10_000_000).contains(pushes) else {
            throw CommandRun.Fault("PUSHES is a number, such as 100000")
        }
        let peers = try words.dropFirst(3).map { word in
            guard let sign = word.firstIndex(of: "="), sign != word.startIndex else {
                throw CommandRun.Fault("\(word) is not NAME=COMMAND")
            }
            return PeerBenchmark.Peer(name: String(word[..<sign]), command: String(word[word.index(after: sign)...]))
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for line in try PeerBenchmark(sink: words[1], pushes: pushes, rounds: 3, peers: peers, folder: folder).run() {
            print(line)
        }
    }

    private static func soak(_ words: [String]) throws -> Bool {
        guard let hours = Double(words[5]), hours > 0 else { throw CommandRun.Fault("HOURS is a number, such as 0.5") }
        return try keepsLimits { folder in
            try SoakBenchmark(
                program: words[1], load: words[2], sink: words[3], hours: hours, folder: folder, curve: URL(filePath: words[4])
            ).run()
        }
    }

    private static func fcm(_ words: [String]) throws -> Bool {
        let rounds = max(1, words.dropFirst(3).first.flatMap(Int.init) ?? 5)
        return try keepsLimits { folder in
            try FCMBenchmark(load: words[1], sink: words[2], rounds: rounds, folder: folder).run()
        }
    }

    /// Returns whether every limit is kept. Temporary files are gone by then.
    private static func apns(_ words: [String]) throws -> Bool {
        let rounds = max(1, words.dropFirst(4).first.flatMap(Int.init) ?? 3)
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var load = [Double](repeating: 0, count: 1)
        getloadavg(&load, 1)
        let pushes = try PushBenchmark(load: words[1], sink: words[2], rounds: rounds, folder: folder).run()
        let distance = try DistanceBenchmark(load: words[1], sink: words[2], folder: folder).run()
        let report = PushReport(
            machine: "\(ProcessInfo.processInfo.activeProcessorCount) cores", loadAverage: load[0], rounds: rounds,
            pushes: pushes, distance: distance,
            growth: try GrowthBenchmark(load: words[1], sink: words[2], folder: folder).run())
        for line in report.lines { print(line) }
        try report.write(to: words[3])
        return report.growth.isWithinLimits
    }
}
