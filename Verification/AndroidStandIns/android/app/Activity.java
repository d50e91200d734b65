package android.app;

import android.content.Context;
import android.content.Intent;
import android.os.Bundle;

public class Activity extends Context {
    private Intent intent = new Intent();
    private Application application;

    public final Application getApplication() { return application; }

    /** What the system does before it opens a screen. */
    public final void attach(Application application) { this.application = application; }

    protected void onCreate(Bundle state) {}

    public Intent getIntent() { return intent; }

    public void setIntent(Intent intent) { this.intent = intent; }

    public final void requestPermissions(String[] permissions, int code) {}
}
