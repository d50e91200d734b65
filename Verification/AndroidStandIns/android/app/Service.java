package android.app;

import android.content.Context;

public abstract class Service extends Context {
    private Application application;

    public final Application getApplication() { return application; }

    /** What the system does before it starts a service. */
    public final void attach(Application application) { this.application = application; }
}
