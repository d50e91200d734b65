/// What an operator can do about a connection that could not be made, by the words of the client library and the server.
///
/// They speak of what they saw; the advice speaks of settings. Words that are not known get none.
enum ConnectionAdvice {
    /// What to mend; `nil` for words that are not known, and for those of a server that is away or is starting.
    static func advice(on message: String) -> String? {
        table.first { $0.words.allSatisfy(message.contains) }?.advice
    }

    private static let table: [(words: [String], advice: String)] = [
        (
            ["certificate verify failed"],
            "the server's certificate is not from an authority that is trusted: sslrootcert has to name the file of the right one"
        ),
        (
            ["does not match host name"],
            "name the host in database-url by the name in its certificate, or give the server a certificate for this one"
        ),
        (
            ["root certificate file"],
            "the file of the authority is what sslrootcert in database-url names, and ~/.postgresql/root.crt without it"
        ),
        (["no pg_hba.conf entry", "SSL encryption"], "let this host, user and database in at the server, in pg_hba.conf"),
        (
            ["no pg_hba.conf entry", "no encryption"],
            """
            the server lets these in with TLS only, or not at all: put sslmode=require, or better verify-full, into database-url, or \
            let this host, user and database in at the server, in pg_hba.conf
            """
        ),
        (["server does not support SSL"], "switch TLS on at the server (ssl = on), or take sslmode out of database-url"),
        (
            ["password authentication failed"],
            "user and password are those of database-url, else of PGUSER, PGPASSWORD or the password file; mend them there"
        ),
        (
            ["no password supplied"],
            "put the password into database-url, PGPASSWORD or a password file that only its owner can read"
        ),
        (["no pg_hba.conf entry"], "let this host, user and database in at the server, in pg_hba.conf"),
        (["definition of service"], "the service is looked for in ~/.pg_service.conf, or where PGSERVICEFILE says"),
        (["role \"", "does not exist"], "make the user at the server with createuser, or name another in database-url"),
        (["database \"", "does not exist"], "make the database with createdb, or name another in database-url"),
    ]
}
