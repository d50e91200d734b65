import AppBackend
import HTTPService
import Hummingbird

extension BackendRoutes {
    func addTokenRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "sign-in-tokens", for: .mintSignInTokens, to: router) { call in
            _ = try call.query()
            let request = try await call.request.readJSON(
                SignInTokenRequest.self, known: FieldNames.signInToken, limits: options.json)
            return try .secret(await backend.mintSignInToken(request, by: call.principal), status: .created)
        }
    }
}
