use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use bathy_chromium::{Containment, Ending, LaunchError, LaunchOptions, launch};
use bathy_testsite::processes::{is_alive, naming, signal, tree};

use crate::helper::command;
use crate::support::{self, Driven, PATIENCE, comes_true, options, parent};

/// What the product promises.
const AFTER_DEATH: Duration = Duration::from_secs(3);

#[tokio::test]
async fn closing_leaves_no_process_and_no_directory() {
    for containment in [Containment::Kernel, Containment::Browser] {
        let parent = parent();
        let mut driven = Driven::launch(options(containment, parent.path())).await;
        driven.page("http://127.0.0.1:9", "data:text/html,hello").await;
        let processes = tree(driven.id());
        assert!(processes.len() > 3);
        let exit = driven.launched.process.close(PATIENCE).await;
        // It was asked and ended by itself.
        assert!(matches!(exit.ending, Ending::Code(_)), "{exit}");
        assert_eq!(left(parent.path()), (Vec::new(), 0));
        assert!(processes.iter().all(|process| !is_alive(*process)));
    }
}

#[tokio::test]
async fn a_browser_that_does_not_end_when_asked_is_ended() {
    let parent = parent();
    let driven = Driven::launch(options(Containment::Auto, parent.path())).await;
    let processes = tree(driven.id());
    signal("STOP", driven.id());
    let begun = Instant::now();
    let exit = driven.launched.process.close(Duration::from_millis(100)).await;
    assert_eq!(exit.ending, Ending::Signal(9));
    assert!(begun.elapsed() < AFTER_DEATH);
    assert!(processes.iter().all(|process| !is_alive(*process)));
    assert_eq!(left(parent.path()), (Vec::new(), 0));
}

#[tokio::test]
async fn dropping_leaves_no_process_and_no_directory() {
    let parent = parent();
    let driven = Driven::launch(options(Containment::Auto, parent.path())).await;
    let processes = tree(driven.id());
    drop(driven);
    let gone = tokio::task::spawn_blocking(move || {
        comes_true(AFTER_DEATH, || {
            left(parent.path()) == (Vec::new(), 0) && !processes.iter().any(|process| is_alive(*process))
        })
    });
    assert!(gone.await.unwrap());
}

#[tokio::test]
async fn a_browser_that_is_killed_is_reported_and_cleaned_up() {
    let parent = parent();
    let driven = Driven::launch(options(Containment::Auto, parent.path())).await;
    let processes = tree(driven.id());
    signal("KILL", driven.id());
    let exit = tokio::time::timeout(PATIENCE, driven.launched.process.exited()).await.unwrap();
    assert_eq!(exit.ending, Ending::Signal(9));
    let again = driven.launched.process.close(PATIENCE).await;
    assert_eq!(again, exit);
    assert!(processes.iter().all(|process| !is_alive(*process)));
    assert_eq!(left(parent.path()), (Vec::new(), 0));
}

#[test]
fn killing_us_leaves_no_process_and_no_directory() {
    let parent = parent();
    let mut helper = command(&[], "launch and wait", parent.path()).spawn().unwrap();
    let id = browser_of(&mut helper);
    let processes = tree(id);
    assert!(processes.len() > 3);
    helper.kill().unwrap();
    helper.wait().unwrap();
    let gone = || left(parent.path()) == (Vec::new(), 0) && !processes.iter().any(|process| is_alive(*process));
    assert!(comes_true(AFTER_DEATH, gone), "{:?}", left(parent.path()));
}

#[test]
fn killing_us_at_any_moment_of_a_launch_leaves_nothing() {
    // From before the first process exists to after the first answer.
    for delay in (0..24).map(|step| Duration::from_millis(step * 15)) {
        let parent = parent();
        let mut helper = command(&[], "launch and wait", parent.path()).spawn().unwrap();
        std::thread::sleep(delay);
        helper.kill().unwrap();
        helper.wait().unwrap();
        let gone = comes_true(AFTER_DEATH, || left(parent.path()) == (Vec::new(), 0));
        assert!(gone, "killed after {delay:?}: {:?}", left(parent.path()));
    }
}

#[test]
fn leaving_without_a_word_leaves_nothing() {
    let parent = parent();
    let output = command(&[], "launch and leave", parent.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(comes_true(AFTER_DEATH, || left(parent.path()) == (Vec::new(), 0)));
}

#[tokio::test]
async fn a_launch_that_is_given_up_leaves_nothing() {
    for delay in [0, 5, 20, 60, 150] {
        let parent = parent();
        let launching = launch(options(Containment::Auto, parent.path()));
        let _ = tokio::time::timeout(Duration::from_millis(delay), launching).await;
        let gone =
            tokio::task::spawn_blocking(move || comes_true(AFTER_DEATH, || left(parent.path()) == (Vec::new(), 0)));
        assert!(gone.await.unwrap(), "given up after {delay} ms");
    }
}

#[tokio::test]
async fn a_program_that_is_no_browser_is_told_from_one_that_ends_and_one_that_hangs() {
    let parent = parent();
    let program = |name: &str, script: &str| support::program(parent.path(), name, script);
    let launched = async |path: &Path, deadline| {
        let options = LaunchOptions { deadline, ..support::options_for(path, parent.path()) };
        launch(options).await.unwrap_err()
    };
    let ends = program("ends", "echo 'cannot open \x1b[31mshared object' >&2; exit 3");
    let LaunchError::Exited { exit } = launched(&ends, PATIENCE).await else { panic!("it ends at once") };
    assert_eq!(exit.ending, Ending::Code(3));
    assert_eq!(exit.stderr, ["cannot open \\u{1b}[31mshared object"]);

    let talks = program("talks", "printf 'hello\\0' >&4; exec sleep 60");
    assert!(matches!(launched(&talks, PATIENCE).await, LaunchError::NotABrowser));

    let hangs = program("hangs", "echo thinking >&2; exec sleep 60");
    let LaunchError::Deadline { exit, .. } = launched(&hangs, Duration::from_millis(1500)).await else {
        panic!("it hangs")
    };
    assert_eq!(exit.stderr, ["thinking"]);

    let not_a_program = program("not-a-program", "");
    fs::write(&not_a_program, "#!/does/not/exist\n").unwrap();
    assert!(matches!(launched(&not_a_program, PATIENCE).await, LaunchError::Start { .. }));
    for path in [ends, talks, hangs, not_a_program] {
        fs::remove_file(path).unwrap();
    }
    assert_eq!(left(parent.path()), (Vec::new(), 0));
}

#[tokio::test]
async fn what_a_dead_launch_left_is_swept_and_what_lives_is_not() {
    let parent = parent();
    let living = Driven::launch(options(Containment::Auto, parent.path())).await;
    let stale = parent.path().join("bathy-stale");
    fs::create_dir_all(stale.join("home")).unwrap();
    fs::write(stale.join("owner.lock"), "").unwrap();
    let foreign = parent.path().join("bathy-foreign");
    fs::create_dir_all(foreign.join("precious")).unwrap();
    let second = Driven::launch(options(Containment::Auto, parent.path())).await;
    let swept = {
        let stale = stale.clone();
        tokio::task::spawn_blocking(move || comes_true(PATIENCE, || !stale.exists()))
    };
    assert!(swept.await.unwrap());
    assert!(foreign.join("precious").exists());
    for driven in [living, second] {
        assert!(driven.launched.directories.home().exists());
        driven.launched.process.close(PATIENCE).await;
    }
}

/// What is in a parent directory, and how many processes name it. Helpers name it too, but are dead or ourselves.
fn left(parent: &Path) -> (Vec<String>, usize) {
    let names = fs::read_dir(parent).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    (names.collect(), naming(parent.to_str().unwrap()).into_iter().filter(|id| is_alive(*id)).count())
}

fn browser_of(helper: &mut std::process::Child) -> u32 {
    let lines = BufReader::new(helper.stdout.take().unwrap()).lines();
    let said = lines.map_while(Result::ok).find_map(|line| Some(line.split_once("outcome: ")?.1.to_owned()));
    said.unwrap().parse().unwrap()
}
