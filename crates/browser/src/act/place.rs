//! From a point in a frame to a point in the page: through every frame around it, however it is scaled, turned,
//! scrolled, and whichever process draws it.

use bathy_cdp::protocol::dom::{GetBoxModel, GetFrameOwner};
use futures::future::{join_all, try_join_all};
use serde::Deserialize;
use serde_json::json;

use super::target::{Aim, Point, words};
use crate::geometry::{Map, Size};
use crate::page::owners::{Owner, owner_of};
use crate::tab::FrameState;
use crate::world::{World, WorldError};
use crate::{Deadline, Error, Tab};

/// How often frames are scrolled before a point counts as out of reach.
const SCROLLS: usize = 4;

/// The frames around an element, innermost first.
pub(super) struct Surroundings {
    /// Of the element's own frame.
    world: World,
    holders: Vec<Holder>,
    /// Another process draws the element's frame than draws the page.
    elsewhere: bool,
}

/// A frame and the element of its parent that holds it.
struct Holder {
    parent: FrameState,
    world: World,
    owner: Owner,
    /// Size of the held frame's viewport, in CSS pixels of its own.
    size: Size,
}

/// A point of an element in the viewport of its frame and of each frame around it, innermost first.
pub(super) struct Place {
    points: Vec<Point>,
}

impl Place {
    /// In CSS pixels of the page's viewport.
    pub(super) fn on_page(&self) -> Point {
        self.points[self.points.len() - 1]
    }
}

/// What the pointer would meet at a place.
pub(super) enum Met {
    Target,
    /// The cover's outline line.
    Cover(String),
}

impl Surroundings {
    pub(super) async fn of(aim: &Aim<'_>, deadline: Deadline) -> Result<Self, Error> {
        let mut chain = Vec::new();
        let mut frame = aim.frame.clone();
        while let Some(parent) = frame.parent.as_ref().and_then(|parent| aim.tab.frame(parent)) {
            chain.push((std::mem::replace(&mut frame, parent.clone()), parent));
        }
        let holders = try_join_all(chain.into_iter().map(|(child, parent)| Holder::of(child, parent, deadline))).await;
        let holders = holders.map_err(|error| error.about_page(deadline))?;
        let elsewhere = aim.frame.session.id() != aim.tab.page().id();
        Ok(Self { world: aim.world.clone(), holders, elsewhere })
    }

    /// Where a point of the element's frame is in the page, after scrolling the frames around it so that it is in view.
    pub(super) async fn place(&self, point: Point, deadline: Deadline) -> Result<Place, Error> {
        #[derive(Deserialize)]
        struct Revealed {
            scrolled: bool,
        }
        let mut moved = false;
        for _ in 0..SCROLLS {
            let place = self.locate(point, deadline).await?;
            let reveals = self.holders.iter().zip(&place.points[1..]).map(|(holder, point)| async move {
                let argument = json!({ "id": holder.owner.id, "x": point.x, "y": point.y });
                let revealed: Revealed = holder.world.call("reveal", &argument, deadline).await?;
                Ok::<_, WorldError>(revealed.scrolled)
            });
            let scrolled = try_join_all(reveals).await.map_err(|error| error.about_page(deadline))?;
            if !scrolled.contains(&true) {
                if moved {
                    self.drawn(deadline).await?;
                }
                return Ok(place);
            }
            moved = true;
        }
        self.drawn(deadline).await?;
        self.locate(point, deadline).await
    }

    /// Waits until the frames are where they were scrolled to for the browser, too.
    async fn drawn(&self, deadline: Deadline) -> Result<(), Error> {
        if let Some(outermost) = self.holders.last() {
            let drawn = outermost.world.call::<_, serde_json::Value>("drawn", &json!({}), deadline).await;
            drawn.map_err(|error| error.about_page(deadline))?;
        }
        Ok(())
    }

    /// Whether the frame has seen the pointer come to a place. The browser finds a frame of another process where that was
    /// drawn last, which may not be the place yet.
    pub(super) async fn pointed(&self, place: &Place, deadline: Deadline) -> Result<bool, Error> {
        #[derive(Deserialize)]
        struct Answer {
            pointed: bool,
        }
        if !self.elsewhere {
            return Ok(true);
        }
        let Point { x, y } = place.points[0];
        let answer = self.world.call::<_, Answer>("pointed", &json!({ "x": x, "y": y }), deadline).await;
        Ok(answer.map_err(|error| error.about_page(deadline))?.pointed)
    }

    async fn locate(&self, point: Point, deadline: Deadline) -> Result<Place, Error> {
        let maps = try_join_all(self.holders.iter().map(|holder| holder.map(deadline))).await;
        let maps = maps.map_err(|error| error.about_page(deadline))?;
        let mut points = vec![point];
        for (level, holder) in self.holders.iter().enumerate() {
            // In the viewport of the topmost frame that the parent's process draws here.
            let drawn = maps[level].there(points[level]);
            let outer =
                self.holders.get(level + 1).filter(|outer| outer.parent.session.id() == holder.parent.session.id());
            points.push(match outer {
                Some(_) => maps[level + 1].back(drawn).ok_or_else(flat)?,
                None => drawn,
            });
        }
        Ok(Place { points })
    }

    /// What the pointer would meet: the element must be hit in its frame, and each frame in the one around it.
    /// With `guard` the next press is watched over.
    pub(super) async fn meet(
        &self,
        aim: &Aim<'_>,
        place: &Place,
        guard: bool,
        deadline: Deadline,
    ) -> Result<Met, Error> {
        let (inner, outer) = futures::join!(
            met(aim.tab, &aim.frame, &aim.world, aim.id, place.points[0], guard, deadline),
            join_all(self.holders.iter().zip(&place.points[1..]).map(|(holder, point)| {
                met(aim.tab, &holder.parent, &holder.world, holder.owner.id, *point, false, deadline)
            })),
        );
        // The outermost cover is what a person would see.
        for met in outer.into_iter().rev() {
            if let Met::Cover(line) = met.map_err(|error| error.about_page(deadline))? {
                return Ok(Met::Cover(line));
            }
        }
        match inner {
            Ok(met) => Ok(met),
            Err(error) => Err(aim.failure(error, deadline).await),
        }
    }
}

impl Holder {
    async fn of(child: FrameState, parent: FrameState, deadline: Deadline) -> Result<Self, WorldError> {
        let world = World::of(&parent, deadline).await?;
        let owner = async {
            let node = parent.session.call(GetFrameOwner { frame_id: child.id.clone() }, deadline.remaining()).await?;
            owner_of(&world, node.backend_node_id, deadline).await
        };
        let size = async { World::of(&child, deadline).await?.call("viewport", &json!({}), deadline).await };
        let (owner, size) = futures::try_join!(owner, size)?;
        Ok(Self { parent, world, owner, size })
    }

    /// From the held frame's viewport to that of the topmost frame of the parent's session.
    async fn map(&self, deadline: Deadline) -> Result<Map, WorldError> {
        let boxes = GetBoxModel { backend_node_id: Some(self.owner.node) };
        let quad = self.parent.session.call(boxes, deadline.remaining()).await?.model.content;
        let quad = <[f64; 8]>::try_from(quad);
        let quad = quad.map_err(|_| WorldError::Broken("a quad is not of eight numbers".to_owned()))?;
        Ok(Map::onto(&quad, self.size))
    }
}

async fn met(
    tab: &Tab,
    frame: &FrameState,
    world: &World,
    id: u32,
    point: Point,
    guard: bool,
    deadline: Deadline,
) -> Result<Met, WorldError> {
    #[derive(Deserialize)]
    struct Answer {
        hit: bool,
        cover: Option<Cover>,
    }
    #[derive(Deserialize)]
    struct Cover {
        line: String,
    }
    let argument = json!({ "id": id, "x": point.x, "y": point.y, "guard": guard });
    let answer: Answer = world.call("hit", &argument, deadline).await?;
    if answer.hit {
        return Ok(Met::Target);
    }
    Ok(Met::Cover(match answer.cover {
        Some(cover) => words(tab, frame, cover.line.trim_start()).await,
        None => "the edge of what is visible".to_owned(),
    }))
}

fn flat() -> Error {
    Error::ActionFailed("a frame around the element has no size".to_owned())
}
