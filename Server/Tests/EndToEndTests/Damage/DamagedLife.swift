import ClarionTesting
import Foundation
import HubProtocol

/// What one caller does: damaged requests, one after the other, and a look at its own things after each that was refused.
struct DamagedLife {
    let caller: any WireCaller
    let things: RequestSample.Things
    var random: SeededGenerator
    /// The caller's registration and installation as they were read last.
    private var registration = ""
    private var installation = ""
    /// The last requests that were answered, newest last: they show what led to a fault.
    private var recent: [String] = []
    /// How many requests of each status there were, and what went against a promise.
    private(set) var statuses: [Int: Int] = [:]
    private(set) var faults: [String] = []

    init(_ caller: any WireCaller, _ things: RequestSample.Things, seed: UInt64) {
        self.caller = caller
        self.things = things
        random = SeededGenerator(seed: seed)
    }

    mutating func run(_ count: Int) async {
        if statuses.isEmpty { await restore() }
        for number in 1...count where faults.count < 20 {
            if number.isMultiple(of: 100) { await restore() }
            let sample = RequestSample.random(things, &random)
            let request = Int.random(in: 0..<20, using: &random) == 0 ? sample.request : Damage.damaged(sample.request, &random)
            guard let answer = await exchange(request) else { continue }
            statuses[answer.status, default: 0] += 1
            recent = recent.suffix(2) + ["\(answer.status) to \(request.summary.prefix(300))"]
            check(answer, to: request)
            if sample.subject != .nothing { await look(request, answer) }
        }
    }

    /// A right request works, whatever was before it; from then on the caller's things are known.
    private mutating func restore() async {
        for request in [RequestSample.upsert(things), RequestSample.put(things)] {
            let answer = await exchange(request)
            if let answer, answer.status != 200 { fail("a right request was refused: \(answer.status) \(answer.text)", request) }
        }
        registration = await read(things.registrationTarget)
        installation = await read(things.installationTarget)
        if !registration.contains("<Tags>city:Oslo,vip</Tags>") || !installation.contains("\"red\",\"go\"") {
            fail("what was stored is not what is there: \(registration) \(installation)", RequestSample.upsert(things))
        }
    }

    /// What was refused has changed nothing.
    private mutating func look(_ request: WireRequest, _ answer: WireAnswer) async {
        let now = (await read(things.registrationTarget), await read(things.installationTarget))
        if answer.status >= 400, now != (registration, installation) {
            fail("refused with \(answer.status), but it changed \(registration) \(installation) to \(now)", request)
        }
        (registration, installation) = now
    }

    private mutating func read(_ target: String) async -> String {
        await exchange(WireRequest("GET", target, [("Authorization", things.token)])).map(\.text) ?? ""
    }

    private mutating func exchange(_ request: WireRequest) async -> WireAnswer? {
        do { return try await caller.exchange(request) } catch {
            fail("no answer: \(error)", request)
            return nil
        }
    }

    private mutating func check(_ answer: WireAnswer, to request: WireRequest) {
        if answer.status >= 500 { fail("answered with \(answer.status): \(answer.text)", request) }
        guard answer.status >= 400, !answer.body.isEmpty else {
            // What is not HTTP at all is answered below the routes, with no text, and ends the connection.
            if answer.status == 400, !answer.closes { fail("an empty 400 on a connection that stays", request) }
            return
        }
        if let reason = ErrorForm.fault(of: answer) { fail("\(reason): \(answer.text.prefix(500))", request) }
    }

    private mutating func fail(_ reason: String, _ request: WireRequest) {
        faults.append("\(reason)\n  to \(request.summary)\n  after \(recent.joined(separator: "\n  after "))")
    }
}

/// The forms of errors: XML for hubs (Reference/AzureNotificationHubs.md#6-2), and problem documents where no hub is named.
private enum ErrorForm {
    static func fault(of answer: WireAnswer) -> String? {
        switch answer.headers["content-type"] {
        case "application/problem+json":
            let object = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            return object?["status"] as? Int == answer.status ? nil : "no problem document"
        case "application/xml; charset=utf-8":
            guard let error = ErrorBody.read(answer.body) else { return "no error document" }
            return error.code == answer.status ? nil : "the code is not the status"
        case let type: return "an error as \(type ?? "nothing")"
        }
    }
}
