package org.example.shop;

import java.io.IOException;

/** The backend of the app on the page: it knows which user is signed in to the app, and has sign-in tokens from the server. */
final class MyBackend {
    interface Tokens { String token(String user) throws IOException; }

    static volatile Tokens tokens;
    /** Null when no user is signed in to the app. */
    static volatile String user;
    static volatile int asked;

    static synchronized String signInToken(String installation) throws IOException {
        asked++;
        return user == null ? null : tokens.token(user);
    }

    private MyBackend() {}
}
