import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Does what the phone asks of the app, in the app's process.
enum AppCallee {
    static func answer(_ call: AppCall, by engine: RichPushEngine) async -> AppAnswer {
        do throws(RichPushError) {
            return AppAnswer(value: try await value(of: call, by: engine))
        } catch {
            return AppAnswer(error: error)
        }
    }

    private static func value(of call: AppCall, by engine: RichPushEngine) async throws(RichPushError) -> Data {
        switch call {
        case .session: return json(await engine.session)
        case .start: await engine.start()
        case .didUnlock: await engine.didUnlock()
        case .signOut: return json(try await engine.signOut())
        case .inbox: return json(try await engine.inbox())
        case .refresh: return json(try await engine.refresh())
        case .didRegister(let token): await engine.didRegister(token: token)
        case .didFailToRegister(let reason): await engine.didFailToRegister(reason: reason)
        case .signIn(let user, let password): return json(try await engine.signIn(user: user, password: password))
        case .requestPermission(let provisional): return json(await engine.requestPermission(provisional: provisional))
        case .setTags(let tags): try await engine.setTags(tags)
        default: return try await contentValue(of: call, by: engine)
        }
        return json(Nothing())
    }

    private static func contentValue(of call: AppCall, by engine: RichPushEngine) async throws(RichPushError) -> Data {
        switch call {
        case .handleBackgroundPush(let envelope, let budget):
            return json(await engine.handleBackgroundPush(envelope, budget: budget))
        case .handleBackgroundRefresh(let budget): return json(await engine.handleBackgroundRefresh(budget: budget))
        case .willPresent(let notice): return json(await engine.willPresent(notice))
        case .didRespond(let response): await engine.didRespond(response)
        case .didAnswerOffer(let id, let more): await engine.didAnswerOffer(of: id, more: more)
        case .show(let id): await engine.show(id)
        case .downloaded(let entries): return json(await engine.downloaded(among: entries))
        case .downloadedContent(let id): return json(await engine.downloadedContent(of: id))
        case .sendPush(let request): return json(try await engine.sendPush(request))
        case .upload(let file, let mediaType, let fileName):
            defer { try? FileManager.default.removeItem(at: file) }
            guard let content = try? Data(contentsOf: file) else { throw .storage(.failed) }
            return json(try await engine.upload(content, mediaType: mediaType, fileName: fileName))
        default: break
        }
        return json(Nothing())
    }

    private static func json(_ value: some Encodable) -> Data { (try? JSONEncoder().encode(value)) ?? Data() }
}
