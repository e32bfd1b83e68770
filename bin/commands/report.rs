//! `planner report`: answers a list of questions as one page, compared with the previous report.

use anyhow::Context as _;
use prospector_agent::{ask::AnswerStatus, session::Session};
use prospector_discovery::sources::write_file;
use prospector_report::{Report, Store, read_questions};

use super::{
    ask::{Asker, answering_models, open_planner},
    interrupts,
};
use crate::{Exit, cli::ReportArgs, output, settings::Settings};

/// Answers the questions of a file, and writes the page.
pub(crate) async fn report(mut args: ReportArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let place = args.questions.display().to_string();
    let text = std::fs::read_to_string(&args.questions).with_context(|| format!("cannot read {place}"))?;
    let (questions, problems) = read_questions(&text, &place)?;
    output::problems(&problems, true);
    args.answering.no_follow_ups = true;
    let models = answering_models(&args.answering, settings)?;
    let planner = open_planner(&args.answering, &models, settings).await?;
    let limits = settings.limits(&args.answering.limits, models.limits_of_answers())?;
    let asker = Asker { args: &args.answering, limits, planner: &planner };
    let cancel = interrupts();
    let mut answers = Vec::with_capacity(questions.asked.len());
    for one in &questions.asked {
        let outcome = asker.answer(&one.question, args.answering.mode, &mut Session::unkept(), &cancel).await;
        anyhow::ensure!(!cancel.is_cancelled(), "interrupted; no report was written");
        if let Some(failure) = &outcome.failure {
            output::say(&format!("error: {failure}"));
        }
        answers.push(outcome.answered);
    }
    let store = Store::new(&settings.state_folder()?, &args.questions);
    let report = Report::new(questions, answers, store.read().as_ref());
    write_file(&args.out, &report.html()).with_context(|| format!("cannot write {}", args.out.display()))?;
    // The page is written even if its snapshot cannot be stored.
    if let Err(error) = store.keep(&report.snapshot()) {
        output::say(&format!("warning: {error}"));
    }
    output::say(&format!("wrote the report to {}", args.out.display()));
    let of = |status: AnswerStatus| report.sections.iter().filter(move |section| section.answered.status == status);
    for section in of(AnswerStatus::Unanswered).chain(of(AnswerStatus::Partial)) {
        output::say(&format!("{}: {}", section.answered.status.label().to_lowercase(), section.asked.question));
    }
    Ok(match (of(AnswerStatus::Unanswered).count(), of(AnswerStatus::Partial).count()) {
        (0, 0) if problems.is_empty() => Exit::Good,
        (0, 1..) if problems.is_empty() => Exit::Partial,
        _ => Exit::NotVerified,
    })
}
