use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bathy_chromium::{Backend, Containment, Environment, LaunchError, Level, Lookup, Outcome, examine, find, launch};
use bathy_testsite::processes::{field, tree};

use crate::helper::{outcome, outcome_where};
use crate::support::{Driven, PATIENCE, is_root, options, parent};

#[test]
fn an_ordinary_user_gets_either_level() {
    let parent = parent();
    fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let setpriv = ["/usr/bin/setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
    let before: &[&str] = if is_root() { &setpriv } else { &[] };
    for level in ["kernel", "browser"] {
        assert_eq!(outcome(before, level, parent.path()), format!("{level}, None"));
    }
}

#[tokio::test]
async fn the_browser_of_root_runs_as_an_unprivileged_user_in_a_home_of_its_own() {
    use std::os::unix::fs::MetadataExt;
    if !is_root() {
        return;
    }
    for containment in [Containment::Kernel, Containment::Browser] {
        let parent = parent();
        let driven = Driven::launch(options(containment, parent.path())).await;
        let user = driven.launched.process.user_id().unwrap();
        assert_ne!(user, 0);
        for process in tree(driven.id()) {
            for identity in ["Uid", "Gid"] {
                let found = field(process, identity).unwrap();
                assert!(found.split('\t').all(|number| number == user.to_string()), "{found}");
            }
            assert_eq!(field(process, "Groups").as_deref(), Some(""));
        }
        let directories = &driven.launched.directories;
        let root = fs::metadata(directories.root()).unwrap();
        assert_eq!((root.uid(), root.mode() & 0o777), (0, 0o711));
        for path in [directories.home(), directories.temporary(), directories.downloads()] {
            let found = fs::metadata(path).unwrap();
            assert_eq!((found.uid(), found.mode() & 0o777), (user, 0o700));
        }
        let uploads = fs::metadata(directories.uploads()).unwrap();
        assert_eq!((uploads.uid(), uploads.gid(), uploads.mode() & 0o777), (0, user, 0o750));
        driven.launched.process.close(PATIENCE).await;
    }
}

#[test]
fn where_namespaces_are_forbidden_nothing_runs_and_the_reason_is_named() {
    if !is_root() {
        return;
    }
    let parent = parent();
    let kernel = outcome_where("user", 0, "kernel", parent.path());
    assert!(kernel.contains("making a user and a network namespace failed"), "{kernel}");
    assert!(kernel.contains("user.max_user_namespaces"), "{kernel}");
    for containment in ["auto", "browser"] {
        let said = outcome_where("user", 0, containment, parent.path());
        assert!(said.starts_with("Chromium's sandbox cannot start on this machine"), "{said}");
        assert!(said.contains("user.max_user_namespaces"), "{said}");
    }
    assert_only_the_binary_is_left(parent.path());
}

#[test]
fn network_namespaces_that_are_forbidden_are_named() {
    if !is_root() {
        return;
    }
    let parent = parent();
    let kernel = outcome_where("net", 0, "kernel", parent.path());
    assert!(kernel.contains("making a user and a network namespace failed"), "{kernel}");
    assert!(kernel.contains("user.max_net_namespaces"), "{kernel}");
    let browser = outcome_where("net", 0, "browser", parent.path());
    assert!(browser.starts_with("Chromium's sandbox cannot start on this machine"), "{browser}");
    assert!(browser.contains("user.max_net_namespaces"), "{browser}");
}

#[test]
fn where_the_kernel_level_leaves_no_room_for_the_sandbox_auto_takes_the_browser_level() {
    if !is_root() {
        return;
    }
    let parent = parent();
    // One network namespace is enough for the hull or for the sandbox. The kernel gives that of the hull back when it gets
    // round to it, which takes a while where others end many of theirs.
    let mut auto = String::new();
    for _ in 0..20 {
        auto = outcome_where("net", 1, "auto", parent.path());
        if auto.starts_with("browser, Some(") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert!(auto.starts_with("browser, Some("), "{auto}");
    let kernel = outcome_where("net", 1, "kernel", parent.path());
    assert!(kernel.starts_with("the browser ended at once with signal 5"), "{kernel}");
}

#[test]
fn a_container_with_root_alone_gets_no_browser() {
    let parent = parent();
    fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let before = ["/usr/bin/unshare", "--user", "--map-root-user"];
    let said = outcome(&before, "auto", parent.path());
    assert!(said.starts_with("no unprivileged user is mapped into this container"), "{said}");
    assert_only_the_binary_is_left(parent.path());
}

#[tokio::test]
async fn a_browser_that_the_unprivileged_user_cannot_reach_is_named_with_what_is_in_the_way() {
    if !is_root() {
        return;
    }
    let parent = parent();
    let closed = parent.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let program = closed.join("chrome");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let lookup = Lookup { executable_path: Some(program), ..Lookup::of_this_process() };
    let mut options = options(Containment::Auto, parent.path());
    options.executable = find(&lookup).unwrap();
    let LaunchError::OutOfReach { barrier, .. } = launch(options).await.unwrap_err() else {
        panic!("the folder is closed")
    };
    assert_eq!(barrier, closed);
}

#[tokio::test]
async fn a_parent_directory_that_is_not_there_is_an_error() {
    let parent = parent();
    let options = options(Containment::Auto, &parent.path().join("absent"));
    assert!(matches!(launch(options).await.unwrap_err(), LaunchError::Directory { .. }));
}

#[tokio::test]
async fn the_examination_of_this_machine_launches_a_browser() {
    let report = examine(&Lookup::of_this_process(), Containment::Kernel).await;
    assert_eq!(report.level, Some(Level::Kernel), "{report:?}");
    assert_ne!(report.worst(), Outcome::Bad);
    for name in ["user", "browser", "launch", "containment", "sandbox", "fonts", "disk"] {
        assert!(report.findings.iter().any(|finding| finding.name == name), "{name}");
    }
}

#[tokio::test]
async fn the_examination_of_a_machine_without_a_browser_says_what_to_install() {
    let empty = tempfile::tempdir().unwrap();
    let lookup = Lookup {
        executable_path: None,
        headless: true,
        backend: Backend::Auto,
        environment: Environment::new([("HOME", empty.path())], empty.path()),
    };
    let report = examine(&lookup, Containment::Auto).await;
    assert_eq!((report.worst(), report.level), (Outcome::Bad, None));
    let browser = report.findings.iter().find(|finding| finding.name == "browser").unwrap();
    assert!(browser.advice.as_ref().unwrap().contains("chromium-headless-shell"));
}

fn assert_only_the_binary_is_left(parent: &Path) {
    let names: Vec<_> = fs::read_dir(parent).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["test-binary"]);
}
